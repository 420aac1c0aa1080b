#include "runtime/archive/operator_review.h"

// A group was judged as a whole: its reason says what its operators have in common.
// A test checks that each operator of LibTorch 1.13 is in one of the two lists.

namespace pareto::runtime {

std::span<const OperatorGroup> allowed_operators() {
  static constexpr OperatorGroup kGroups[] = {
      {"aten", "numbers, conversions and questions about a value",
       "Bool Complex ComplexImplicit Float FloatImplicit Int IntImplicit ScalarImplicit Size "
       "__and__ __iand__ __ilshift__ __interpolate __ior__ __irshift__ __is__ __isnot__ __ixor__ "
       "__lshift__ __not__ __or__ __round_to_zero_floordiv __rshift__ __upsample "
       "__upsample_bilinear __upsample_nearest __xor__ _assert_int_or_pair can_cast data degrees "
       "device dim divmod element_size fabs factorial floordiv get_device is_autocast_cpu_enabled "
       "is_autocast_enabled is_coalesced is_complex is_conj is_contiguous is_distributed "
       "is_floating_point is_grad_enabled is_inference is_leaf is_neg is_non_overlapping_and_dense "
       "is_nonzero is_pinned is_same_size is_scripting is_signed is_strides_like_format item "
       "list_with_default mathremainder modf numel promote_types radians result_type size "
       "storage_offset stride warn"},
      {"aten", "texts, as messages of errors are made",
       "bin capitalize chr endswith find format hash hex isalnum isalpha isdecimal isdigit "
       "isidentifier islower isnumeric isprintable isspace istitle isupper join lower lstrip oct "
       "ord partition percentFormat replace rfind rindex rpartition rsplit rstrip splitlines "
       "startswith str strip swapcase title upper"},
      {"aten", "lists and dictionaries",
       "Delete __contains__ __derive_index __getitem__ __range_length all any append clear copy "
       "dict extend get index insert items keys len list pop popitem remove reverse setdefault "
       "slice sort sorted unbind update values"},
      {"aten", "element by element",
       "abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addcdiv addcdiv_ addcmul "
       "addcmul_ angle arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan "
       "arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 atan2_ atan_ "
       "atanh atanh_ bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not "
       "bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor "
       "bitwise_xor_ ceil ceil_ celu celu_ chalf clamp clamp_ clamp_max clamp_max_ clamp_min "
       "clamp_min_ clip clip_ conj conj_physical conj_physical_ copysign copysign_ cos cos_ cosh "
       "cosh_ deg2rad deg2rad_ digamma digamma_ div div_ divide divide_ elu elu_ eq eq_ erf erf_ "
       "erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expm1 expm1_ fix fix_ float_power "
       "float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp "
       "gcd gcd_ ge ge_ gelu gelu_ glu greater greater_ greater_equal greater_equal_ gt gt_ "
       "hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ heaviside "
       "heaviside_ hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ imag isfinite isnan "
       "isneginf isposinf isreal lcm lcm_ ldexp ldexp_ le le_ leaky_relu leaky_relu_ lerp lerp_ "
       "less less_ less_equal less_equal_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ "
       "log_ log_sigmoid logaddexp logaddexp2 logical_and logical_and_ logical_not logical_not_ "
       "logical_or logical_or_ logical_xor logical_xor_ logit logit_ lt lt_ mish mish_ mul mul_ "
       "multiply multiply_ ne ne_ neg neg_ negative negative_ nextafter nextafter_ not_equal "
       "not_equal_ polygamma polygamma_ positive pow pow_ prelu rad2deg rad2deg_ real reciprocal "
       "reciprocal_ relu relu6 relu6_ relu_ remainder remainder_ resolve_conj resolve_neg round "
       "round_ rrelu rrelu_ rsqrt rsqrt_ rsub selu selu_ sgn sgn_ sigmoid sigmoid_ sign sign_ "
       "signbit silu silu_ sin sin_ sinc sinc_ sinh sinh_ softplus softshrink special_airy_ai "
       "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma "
       "special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 "
       "special_expit special_expm1 special_gammainc special_gammaincc special_gammaln special_i0 "
       "special_i0e special_i1 special_i1e special_log1p special_log_ndtr special_logit "
       "special_logsumexp special_modified_bessel_i0 special_modified_bessel_i1 "
       "special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln special_ndtr "
       "special_ndtri special_polygamma special_psi special_round "
       "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc "
       "special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta sqrt sqrt_ square "
       "square_ sub sub_ subtract subtract_ tan tan_ tanh tanh_ threshold threshold_ true_divide "
       "true_divide_ trunc trunc_ xlogy xlogy_"},
      {"aten", "views, copies and choices of elements, with every index checked",
       "adjoint alias alias_copy align_as argwhere as_strided as_strided_copy "
       "as_strided_scatter atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors "
       "broadcast_to cartesian_prod cat chunk clone column_stack combinations concat concatenate "
       "contiguous copy_ cpu cuda detach detach_ detach_copy diag diag_embed diagflat diagonal "
       "diagonal_copy diagonal_scatter dsplit dstack expand expand_as expand_copy fill_diagonal_ "
       "flatten flatten_dense_tensors flip fliplr flipud gather hsplit hstack index_add index_add_ "
       "index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce "
       "index_reduce_ index_select lift_fresh lift_fresh_copy linalg_diagonal linalg_vander mH mT "
       "masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matrix_H meshgrid "
       "moveaxis movedim narrow narrow_copy numpy_T permute permute_copy put put_ ravel "
       "refine_names rename rename_ repeat repeat_interleave reshape reshape_as roll rot90 "
       "row_stack scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select "
       "select_copy select_scatter slice_copy slice_scatter split split_copy split_with_sizes "
       "split_with_sizes_copy squeeze squeeze_ squeeze_copy stack swapaxes swapaxes_ swapdims "
       "swapdims_ t t_ t_copy take take_along_dim tensor_split tile to transpose transpose_ "
       "transpose_copy tril tril_ tril_indices triu triu_ triu_indices type_as unbind_copy "
       "unflatten unflatten_dense_tensors unfold unfold_copy unsafe_chunk unsafe_split "
       "unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy vander view view_as "
       "view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit "
       "vstack where"},
      {"aten", "new tensors, random numbers too",
       "arange as_tensor bartlett_window bernoulli bernoulli_ binomial blackman_window cauchy "
       "cauchy_ complex empty empty_like empty_strided exponential exponential_ eye fill fill_ "
       "full full_like gamma geometric geometric_ hamming_window hann_window kaiser_window "
       "linspace log_normal log_normal_ logspace multinomial new_empty new_empty_strided "
       "new_full new_ones new_zeros normal normal_ normal_functional ones ones_like poisson "
       "polar rand rand_like randint randint_like randn randn_like random random_ randperm range "
       "scalar_tensor tensor uniform uniform_ zero zero_ zeros zeros_like"},
      {"aten", "sums, orders and counts",
       "allclose amax amin aminmax argmax argmin argsort bincount bucketize count_nonzero cummax "
       "cummin cumprod cumprod_ cumsum cumsum_ cumulative_trapezoid diff dist equal "
       "frobenius_norm gradient histc isclose isin isinf kthvalue logcumsumexp logsumexp max "
       "maximum mean median min minimum mode msort nan_to_num nan_to_num_ nanmean nanmedian "
       "nanquantile nansum nonzero nonzero_numpy norm norm_except_dim nuclear_norm prod quantile "
       "renorm renorm_ std std_mean sum sum_to_size topk trapezoid trapz unique_consecutive "
       "unique_dim unique_dim_consecutive var var_mean"},
      {"aten", "products, decompositions and Fourier transforms",
       "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ bmm chain_matmul "
       "cholesky cholesky_inverse cholesky_solve corrcoef cov cross det dot einsum fft_fft "
       "fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft "
       "fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 "
       "fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn geqrf ger inner inverse istft kron "
       "linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_eig "
       "linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv "
       "linalg_inv_ex linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_matmul "
       "linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank "
       "linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet linalg_solve "
       "linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv "
       "linalg_tensorsolve linalg_vecdot linalg_vector_norm logdet matmul matrix_exp "
       "matrix_power mm mv mvlgamma mvlgamma_ orgqr ormqr outer pinverse qr slogdet stft svd "
       "symeig tensordot trace triangular_solve vdot"},
      {"aten", "layers of networks and losses",
       "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
       "adaptive_max_pool2d adaptive_max_pool3d affine_grid_generator alpha_dropout alpha_dropout_ "
       "avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy "
       "binary_cross_entropy_with_logits cdist channel_shuffle col2im constant_pad_nd conv1d "
       "conv2d conv3d conv_depthwise3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d "
       "convolution cosine_embedding_loss cosine_similarity cross_entropy_loss dropout dropout_ "
       "embedding embedding_bag feature_alpha_dropout feature_alpha_dropout_ feature_dropout "
       "feature_dropout_ grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell "
       "hinge_embedding_loss huber_loss im2col instance_norm kl_div l1_loss layer_norm linear "
       "log_softmax lstm lstm_cell margin_ranking_loss max_pool1d max_pool1d_with_indices "
       "max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool2d "
       "max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d "
       "nll_loss_nd one_hot pad pad_sequence pairwise_distance pdist pixel_shuffle pixel_unshuffle "
       "poisson_nll_loss reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
       "replication_pad2d replication_pad3d rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell "
       "scaled_dot_product_attention smooth_l1_loss soft_margin_loss softmax special_log_softmax "
       "special_softmax triplet_margin_loss upsample_bicubic2d upsample_bilinear2d "
       "upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d "
       "upsample_trilinear3d"},
      {"aten", "numbers of few bits",
       "dequantize fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask "
       "fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask int_repr "
       "q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point "
       "qscheme quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_gru "
       "quantized_lstm quantized_max_pool1d quantized_max_pool2d"},
      {"aten", "what LibTorch writes into traces in place of a layer",
       "_adaptive_avg_pool2d _adaptive_avg_pool3d _add_relu _add_relu_ _aminmax _assert_async "
       "_assert_tensor_metadata _autocast_to_full_precision _autocast_to_reduced_precision "
       "_batch_norm_impl_index _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int "
       "_cast_Long _cast_Short _cdist_forward _conj _conj_physical _convolution _convolution_mode "
       "_dim_arange _embedding_bag _euclidean_dist _infer_size _linalg_check_errors _linalg_det "
       "_linalg_eigh _linalg_slogdet _linalg_solve_ex _linalg_svd _list_to_tensor _log_softmax "
       "_logcumsumexp _native_multi_head_attention _nested_tensor_from_mask "
       "_nested_tensor_from_mask_left_aligned _pack_padded_sequence _pad_circular _pad_enum "
       "_pad_packed_sequence _scaled_dot_product_attention _scaled_dot_product_attention_forward "
       "_scaled_dot_product_attention_math _set_item _shape_as_tensor _size_if_not_equal _softmax "
       "_tensor_to_list _to_copy _transformer_encoder_layer_fwd _trilinear _unique _unique2 "
       "_unsafe_view _unwrap_optional _upsample_bicubic2d_aa _upsample_bilinear2d_aa "
       "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d "
       "to_padded_tensor"},
      {"prim",
       "the language itself: branches, loops, lists, tuples, calls of functions of the archive",
       "CallFunction CallMethod Constant DictConstruct GetAttr If ListConstruct ListUnpack Loop "
       "Param Return TupleConstruct TupleSlice isinstance"},
      {"prim", "questions about a value, and its parts",
       "ConstantChunk EnumName EnumValue IfThenElse NumToTensor RaiseException StringIndex "
       "TupleIndex TupleUnpack Uninitialized abs data device dtype index is_cpu is_cuda is_ipu "
       "is_meta is_mkldnn is_mps is_nested is_ort is_quantized is_sparse is_sparse_csr is_vulkan "
       "is_xpu layout max min rangelist requires_grad tolist type unchecked_cast "
       "unchecked_unwrap_optional"},
      {"quantized", "layers of few bits",
       "add add_relu add_scalar add_scalar_relu batch_norm batch_norm1d batch_norm1d_relu "
       "batch_norm2d batch_norm2d_relu batch_norm3d batch_norm3d_relu batch_norm_relu cat cat_relu "
       "celu clamp conv1d conv1d_dynamic conv1d_prepack conv1d_relu conv1d_unpack conv2d "
       "conv2d_dynamic conv2d_prepack conv2d_relu conv2d_unpack conv3d conv3d_dynamic "
       "conv3d_prepack conv3d_relu conv3d_unpack conv_prepack conv_transpose1d "
       "conv_transpose1d_dynamic conv_transpose1d_prepack conv_transpose1d_unpack conv_transpose2d "
       "conv_transpose2d_dynamic conv_transpose2d_prepack conv_transpose2d_unpack "
       "conv_transpose3d_unpack conv_unpack "
       "dropout elu embedding_byte group_norm hardswish instance_norm layer_norm leaky_relu linear "
       "linear_dynamic linear_dynamic_fp16 linear_prepack linear_prepack_fp16 linear_relu "
       "linear_relu_dynamic linear_relu_dynamic_fp16 linear_unpack linear_unpack_fp16 "
       "make_quantized_cell_params make_quantized_cell_params_dynamic "
       "make_quantized_cell_params_fp16 matmul max_pool1d max_pool2d mul mul_relu mul_scalar "
       "mul_scalar_relu prelu relu6 sigmoid softmax threshold"},
  };
  return kGroups;
}

}  // namespace pareto::runtime
