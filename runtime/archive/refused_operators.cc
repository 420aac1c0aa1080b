#include "runtime/archive/operator_review.h"

// A group was judged as a whole: users are told its reason.
// A test checks that each operator of LibTorch 1.13 is in one of the two lists.

namespace pareto::runtime {

std::span<const OperatorGroup> refused_operators() {
  static constexpr OperatorGroup kGroups[] = {
      {"aten", "it reads or writes files", "from_file save"},
      {"aten", "it changes the process for every other request, or waits",
       "_get_tracing_state has_torch_function is_vulkan_available manual_seed record_stream "
       "set_grad_enabled wait"},
      {"aten", "it makes a text as long as a number says, and cannot be stopped",
       "center expandtabs ljust rjust zfill"},
      {"aten", "it changes what memory a tensor has",
       "_copy_from _copy_from_and_resize _debug_has_internal_overlap _efficientzerotensor "
       "_has_compatible_shallow_copy_type _has_same_storage_numel _index_put_impl "
       "_index_put_impl_ _is_zerotensor _new_zeros_with_same_feature_meta _pin_memory "
       "_reshape_alias_copy _reshape_from_tensor _resize_output _resize_output_ as_strided_ "
       "is_set_to lift pin_memory resize resize_ resize_as resize_as_ set set_ set_data"},
      {"aten", "its kernel uses sizes or indices that it does not check",
       "_ctc_loss _fft_c2c _fft_c2r _fft_r2c _local_scalar_dense _masked_softmax _reshape_alias "
       "_saturate_weight_to_fp16 _stack _transform_bias_rescale_qkv _weight_norm "
       "_weight_norm_interface align_tensors align_to ctc_loss fractional_max_pool2d "
       "fractional_max_pool3d histogram histogramdd linalg_ldl_factor linalg_ldl_factor_ex "
       "linalg_ldl_solve linalg_lu_solve lu_solve lu_unpack native_batch_norm "
       "native_channel_shuffle native_dropout native_group_norm native_layer_norm "
       "quantized_gru_cell quantized_lstm_cell quantized_rnn_relu_cell quantized_rnn_tanh_cell "
       "rrelu_with_noise rrelu_with_noise_ searchsorted slow_conv3d slow_conv_dilated2d "
       "slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d sym_numel sym_size "
       "sym_storage_offset sym_stride thnn_conv2d"},
      {"aten", "it computes for as long as a number says, and cannot be stopped",
       "special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
       "special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h "
       "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
       "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
       "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w"},
      {"aten", "it looks for an empty text without end", "count"},
      {"aten", "gradients are made by the daemon itself",
       "_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward _add_batch_dim _backward "
       "_batch_norm_impl_index_backward _cdist_backward _convolution_double_backward "
       "_ctc_loss_backward _cudnn_rnn_backward _dirichlet_grad _embedding_bag_backward "
       "_embedding_bag_dense_backward _embedding_bag_forward_only "
       "_embedding_bag_per_sample_weights_backward _embedding_bag_sparse_backward "
       "_fake_quantize_learnable_per_channel_affine_backward "
       "_fake_quantize_learnable_per_tensor_affine_backward _fw_primal _fw_primal_copy "
       "_gather_sparse_backward _grad_sum_to_size _grid_sampler_2d_cpu_fallback_backward "
       "_log_softmax_backward_data _make_dual _make_dual_copy _masked_scale "
       "_masked_softmax_backward _nested_select_backward _nested_sum_backward "
       "_no_grad_embedding_renorm_ _no_grad_fill_ _no_grad_normal_ _no_grad_uniform_ "
       "_no_grad_zero_ _pack_padded_sequence_backward _pdist_backward _remove_batch_dim "
       "_segment_reduce_backward _slow_conv2d_backward _slow_conv2d_forward "
       "_softmax_backward_data _sparse_log_softmax_backward_data _sparse_softmax_backward_data "
       "_sparse_sum_backward _standard_gamma_grad _thnn_differentiable_gru_cell_backward "
       "_thnn_differentiable_lstm_cell_backward _thnn_fused_gru_cell_backward "
       "_thnn_fused_lstm_cell_backward _thnn_fused_lstm_cell_backward_impl _unpack_dual "
       "_upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa_backward "
       "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
       "_upsample_nearest_exact3d_backward _version _weight_norm_differentiable_backward "
       "_weight_norm_interface_backward adaptive_avg_pool3d_backward "
       "adaptive_max_pool2d_backward adaptive_max_pool3d_backward affine_grid_generator_backward "
       "avg_pool2d_backward avg_pool3d_backward backward batch_norm_backward_elemt "
       "batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats "
       "batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats "
       "binary_cross_entropy_backward conv_tbc_backward convolution_backward "
       "convolution_backward_overrideable cudnn_affine_grid_generator_backward "
       "cudnn_batch_norm_backward cudnn_grid_sampler_backward cummaxmin_backward "
       "cumprod_backward diag_backward diagonal_backward elu_backward embedding_backward "
       "embedding_dense_backward embedding_renorm embedding_renorm_ embedding_sparse_backward "
       "fake_quantize_per_channel_affine_cachemask_backward "
       "fake_quantize_per_tensor_affine_cachemask_backward fractional_max_pool2d_backward "
       "fractional_max_pool3d_backward gather_backward gelu_backward get_gradients glu_backward "
       "glu_backward_jvp glu_jvp grad grid_sampler_2d_backward grid_sampler_3d_backward "
       "hardshrink_backward hardsigmoid_backward hardswish_backward hardtanh_backward "
       "huber_loss_backward index_select_backward infinitely_differentiable_gelu_backward "
       "leaky_relu_backward linear_backward log_sigmoid_backward log_sigmoid_forward "
       "logit_backward lstm_mps_backward masked_select_backward matmul_backward "
       "matrix_exp_backward max_pool2d_with_indices_backward max_pool3d_with_indices_backward "
       "miopen_batch_norm_backward miopen_rnn_backward mish_backward "
       "mkldnn_adaptive_avg_pool2d_backward mkldnn_linear_backward mkldnn_linear_backward_input "
       "mkldnn_linear_backward_weights mkldnn_max_pool2d_backward mkldnn_max_pool3d_backward "
       "mps_convolution_backward mps_convolution_transpose_backward mps_max_pool2d_backward "
       "mse_loss_backward multi_margin_loss_backward multilabel_margin_loss_backward "
       "multilabel_margin_loss_forward native_batch_norm_backward native_dropout_backward "
       "native_group_norm_backward native_layer_norm_backward native_norm nll_loss2d_backward "
       "nll_loss2d_forward nll_loss_backward nll_loss_forward output_nr prelu_backward "
       "reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward "
       "replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward "
       "requires_grad_ retain_grad retains_grad rrelu_with_noise_backward select_backward "
       "sigmoid_backward silu_backward slice_backward slow_conv3d_forward "
       "smooth_l1_loss_backward soft_margin_loss_backward softplus_backward softshrink_backward "
       "tanh_backward threshold_backward to_dense_backward to_mkldnn_backward trace_backward "
       "unfold_backward upsample_bicubic2d_backward upsample_bilinear2d_backward "
       "upsample_linear1d_backward upsample_nearest1d_backward upsample_nearest2d_backward "
       "upsample_nearest3d_backward upsample_trilinear3d_backward "
       "value_selecting_reduction_backward"},
      {"aten", "parameters are updated by the daemon itself",
       "_amp_foreach_non_finite_check_and_unscale _amp_foreach_non_finite_check_and_unscale_ "
       "_amp_update_scale _amp_update_scale_ _foreach_abs _foreach_abs_ _foreach_acos "
       "_foreach_acos_ _foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ "
       "_foreach_addcmul _foreach_addcmul_ _foreach_asin _foreach_asin_ _foreach_atan "
       "_foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_cos _foreach_cos_ _foreach_cosh "
       "_foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc "
       "_foreach_erfc_ _foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor "
       "_foreach_floor_ _foreach_frac _foreach_frac_ _foreach_lgamma _foreach_lgamma_ "
       "_foreach_log _foreach_log10 _foreach_log10_ _foreach_log1p _foreach_log1p_ _foreach_log2 "
       "_foreach_log2_ _foreach_log_ _foreach_maximum _foreach_maximum_ _foreach_minimum "
       "_foreach_minimum_ _foreach_mul _foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm "
       "_foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_ _foreach_sigmoid "
       "_foreach_sigmoid_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt "
       "_foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh "
       "_foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero _foreach_zero_ _fused_adam "
       "_fused_adam_"},
      {"aten", "its kernels trust indices that a shard may choose",
       "_coalesce _coalesced _coalesced_ _convert_indices_from_coo_to_csr "
       "_convert_indices_from_csr_to_coo _dimI _dimV _indices _indices_copy _nested_from_padded "
       "_nested_from_padded_and_nested_example _nested_tensor_from_tensor_list "
       "_nested_tensor_layer_norm _nested_tensor_offsets _nested_tensor_size "
       "_nested_tensor_softmax_with_shape _nested_tensor_strides _nested_view_from_buffer "
       "_nested_view_from_buffer_copy _nnz _sparse_addmm _sparse_broadcast_to "
       "_sparse_broadcast_to_copy _sparse_bsc_tensor_unsafe _sparse_bsr_tensor_unsafe "
       "_sparse_compressed_tensor_unsafe _sparse_coo_tensor_unsafe _sparse_coo_tensor_with_dims "
       "_sparse_coo_tensor_with_dims_and_tensors _sparse_csc_tensor_unsafe _sparse_csr_prod "
       "_sparse_csr_sum _sparse_csr_tensor_unsafe _sparse_log_softmax _sparse_mask_helper "
       "_sparse_mm _sparse_softmax _sparse_sparse_matmul _sparse_sum _spdiags _to_dense "
       "_validate_compressed_sparse_indices _validate_sparse_bsc_tensor_args "
       "_validate_sparse_bsr_tensor_args _validate_sparse_compressed_tensor_args "
       "_validate_sparse_coo_tensor_args _validate_sparse_csc_tensor_args "
       "_validate_sparse_csr_tensor_args _values _values_copy ccol_indices ccol_indices_copy "
       "coalesce col_indices col_indices_copy copy_sparse_to_sparse copy_sparse_to_sparse_ "
       "crow_indices crow_indices_copy dense_dim hspmm indices indices_copy "
       "nested_to_padded_tensor resize_as_sparse resize_as_sparse_ row_indices row_indices_copy "
       "segment_reduce smm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor "
       "sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor sparse_dim sparse_mask "
       "sparse_resize sparse_resize_ sparse_resize_and_clear sparse_resize_and_clear_ "
       "sparse_sampled_addmm sspaddmm to_dense to_sparse to_sparse_bsc to_sparse_bsr "
       "to_sparse_csc to_sparse_csr values_copy"},
      {"aten", "its kernel is of one library or device; LibTorch chooses it itself",
       "_cudnn_ctc_loss _cudnn_init_dropout_state _cudnn_rnn _cudnn_rnn_flatten_weight "
       "_cufft_clear_plan_cache _cufft_get_plan_cache_max_size _cufft_get_plan_cache_size "
       "_cufft_set_plan_cache_max_size _flash_scaled_dot_product_attention _fused_dropout "
       "_fused_moving_avg_obs_fq_helper _fused_moving_avg_obs_fq_helper_functional _lstm_mps "
       "_mkldnn_reshape _mkldnn_transpose _mkldnn_transpose_ _mps_convolution "
       "_mps_convolution_transpose _mps_max_pool2d _native_decoder_only_multi_head_attention "
       "_nnpack_available _nnpack_spatial_convolution _rowwise_prune _sample_dirichlet "
       "_sobol_engine_draw _sobol_engine_ff_ _sobol_engine_initialize_state_ "
       "_sobol_engine_scramble_ _standard_gamma _transformer_decoder_only_layer_fwd "
       "_triton_multi_head_attention _triton_scaled_dot_attention _use_cudnn_ctc_loss "
       "_use_cudnn_rnn_flatten_weight convolution_overrideable cudnn_affine_grid_generator "
       "cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu "
       "cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable "
       "fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation "
       "fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation "
       "fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix "
       "fused_moving_avg_obs_fake_quant miopen_batch_norm miopen_convolution "
       "miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose "
       "miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution "
       "mkldnn_linear mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_reorder_conv2d_weight "
       "mkldnn_reorder_conv3d_weight to_mkldnn"},
      {"aten", "its kernel trusts callers inside LibTorch",
       "_addmm_activation _cholesky_solve_helper _choose_qparams_per_tensor "
       "_compute_linear_combination _conj_copy _conv_depthwise2d _cummax_helper _cummin_helper "
       "_empty_affine_quantized _empty_per_channel_affine_quantized "
       "_fake_quantize_learnable_per_channel_affine _fake_quantize_learnable_per_tensor_affine "
       "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams _foobar "
       "_grid_sampler_2d_cpu_fallback _histogramdd_bin_edges _histogramdd_from_bin_cts "
       "_histogramdd_from_bin_tensors _lu_with_info _make_per_channel_quantized_tensor "
       "_make_per_tensor_quantized_tensor _ncf_unsqueeze _ncf_view _neg_view _neg_view_copy "
       "_pack_sequence _pdist_forward _symeig_helper _test_ambiguous_defaults "
       "_test_autograd_multiple_dispatch _test_autograd_multiple_dispatch_view "
       "_test_autograd_multiple_dispatch_view_copy _test_optional_filled_intlist "
       "_test_optional_floatlist _test_optional_intlist _test_serialization_subcmul "
       "_test_string_default _test_warn_in_autograd _thnn_fused_gru_cell _thnn_fused_lstm_cell "
       "_to_cpu _torch_cuda_cu_linker_symbol_op choose_qparams_optimized empty_quantized "
       "quantized_batch_norm"},
      {"prim", "it prints to the output of the daemon", "Print"},
      {"prim", "it runs Python, other code or another thread",
       "Closure Enter Exit IgnoredPythonOp InterfaceCall PythonOp awaitable fork forkClosure "
       "rpc_async rpc_remote rpc_sync"},
      {"prim", "objects would outlive the request, or nest without end",
       "CreateObject HasAttr ModuleContainerIndex SetAttr"},
      {"prim", "passes of LibTorch make it, no model has it",
       "AddStatValue AutogradAdd AutogradAllNonZero AutogradAllZero AutogradAnyNonZero "
       "AutogradZero BailOut BailoutTemplate BroadcastMKLDNNTensors BroadcastSizes ChunkSizes "
       "ConstantMKLDNNTensor CudaFusionGroup CudaFusionGuard CudaFusionIvalGuard "
       "CudaFusionSizeEq CudaFusionViewGuard DifferentiableGraph FallbackGraph FusedConcat "
       "FusionGroup Guard MKLDNNClamp MKLDNNClamp_ MKLDNNHardSigmoid MKLDNNHardSigmoid_ "
       "MKLDNNHardSwish MKLDNNHardSwish_ MKLDNNHardTanh MKLDNNHardTanh_ MKLDNNLayerNorm "
       "MKLDNNLayerNorm_ MKLDNNScalarMul MKLDNNScalarMul_ MMBatchSide MMTreeReduce "
       "ReductionSizes RequiresGradCheck StaticRuntimeCopyOuts StaticSubgraph "
       "TensorExprDynamicGroup TensorExprDynamicGuard TensorExprGroup TimePoint TypeCheck "
       "VarConcat VarStack add_optional expand_as_copy expand_copy flatten_copy grad id "
       "infer_squeeze_size infer_unsqueeze_size mkldnn_convolution name profile profile_ivalue "
       "reshape_copy squeeze_copy unsqueeze_copy view_copy"},
      {"quantized", "it writes into a given tensor, or packs what the archive has packed",
       "add_out add_relu_out add_scalar_out add_scalar_relu_out cat_out cat_relu_out "
       "conv2d_dilation conv2d_groups conv2d_output_padding conv2d_padding conv2d_stride "
       "conv2d_transpose conv2d_unpack_sizes conv3d_dilation conv3d_groups conv3d_output_padding "
       "conv3d_padding conv3d_stride conv3d_transpose conv_transpose2d_dilation "
       "conv_transpose2d_groups conv_transpose2d_output_padding conv_transpose2d_padding "
       "conv_transpose2d_stride conv_transpose2d_transpose conv_transpose3d_dilation "
       "conv_transpose3d_groups conv_transpose3d_output_padding conv_transpose3d_padding "
       "conv_transpose3d_stride conv_transpose3d_transpose embedding_bag_2bit_prepack "
       "embedding_bag_2bit_rowwise_offsets embedding_bag_2bit_unpack embedding_bag_4bit_prepack "
       "embedding_bag_4bit_rowwise_offsets embedding_bag_4bit_unpack embedding_bag_byte_prepack "
       "embedding_bag_byte_rowwise_offsets embedding_bag_byte_unpack embedding_bag_prepack "
       "embedding_bag_unpack linear_prepack_fp16_legacy linear_prepack_legacy mul_out "
       "mul_relu_out mul_scalar_out mul_scalar_relu_out quantized_gru_cell_dynamic "
       "quantized_lstm_cell_dynamic quantized_rnn_relu_cell_dynamic "
       "quantized_rnn_tanh_cell_dynamic"},
      {"quantized", "its kernel uses sizes or indices that it does not check",
       "conv_transpose3d conv_transpose3d_dynamic conv_transpose3d_prepack embedding_4bit "
       "embedding_bag_4bit embedding_bag_byte"},
      {"c10d", "it talks to other machines",
       "allgather_ allreduce_ alltoall_ barrier broadcast_ gather_ recv_ reduce_ reduce_scatter_ "
       "scatter_ send"},
      {"profiler", "it calls into a profiler",
       "_call_end_callbacks_on_jit_fut _record_function_enter _record_function_enter_new "
       "_record_function_exit"},
      {"_quantized", "an old name of quantized",
       "add conv2d conv2d_prepack conv2d_relu conv3d conv3d_prepack conv3d_relu conv_transpose1d "
       "conv_transpose1d_prepack conv_transpose2d conv_transpose2d_prepack "
       "conv_transpose3d_prepack linear linear_dynamic linear_prepack linear_prepack_fp16 "
       "linear_prepack_fp16_legacy linear_prepack_legacy"},
      {"sparse", "its kernels trust indices that a shard may choose",
       "qlinear qlinear_dynamic qlinear_prepack qlinear_relu qlinear_relu_dynamic qlinear_unpack"},
      {"mkldnn_prepacked", "engines of the daemon make it", "conv2d_prepack conv2d_run"},
      {"prepacked", "engines of the daemon make it",
       "conv2d_clamp_prepack conv2d_clamp_run conv2d_transpose_clamp_prepack "
       "conv2d_transpose_clamp_run linear_clamp_prepack linear_clamp_run "
       "unpack_prepacked_sizes_conv2d unpack_prepacked_sizes_linear"},
      {"quantization", "its kernel trusts callers inside LibTorch",
       "_Bfloat16QuantizedToFloat _FloatToBfloat16Quantized"},
      {"static_runtime", "passes of LibTorch make it, no model has it",
       "VarTupleUnpack clamp_nan_to_num create_owned_ref dequantize_copy dict_unpack "
       "embedding_bag expand_dims_copy flatten_copy fused_equally_split layer_norm permute_copy "
       "reshape_copy select_tensor signed_log1p to_copy to_maybe_copy_out"},
      {"onnx", "exporters make it", "Reshape Shape"},
      {"_test", "tests of LibTorch have it", "cat get_first leaky_relu"},
      {"image", "it reads or writes files",
       "_is_compiled_against_turbo _jpeg_version decode_avif decode_gif decode_heic decode_image "
       "decode_jpeg decode_jpeg_cuda decode_jpegs_cuda decode_png decode_webp encode_jpeg "
       "encode_png read_file write_file"},
      {"video_reader", "it reads files",
       "probe_video_from_file probe_video_from_memory read_video_from_file "
       "read_video_from_memory"},
  };
  return kGroups;
}

}  // namespace pareto::runtime
