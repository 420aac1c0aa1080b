#include "tests/fuzz/operator_examples.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pareto::fuzz {
namespace {

/// One operator and its arguments, parted by blanks. The last ones may be left out: they have their
/// defaults then.
/// - f2x3: a tensor of two rows of three numbers in float32; f: of one number; f0x3: of none. d, c,
///   l and b are of float64, complex64, int64 (0 and 1) and bool. e is of float32 and positive
///   definite, p of float32 between 0.25 and 0.75. u and s are quint8 and qint8.
/// - (f2,f3): a list of tensors. [1,2]: of whole numbers. {1,2}: of others.
/// - linear4x8, conv6x3x3x3, back6x3x3x3, deep6x3x3x3x3: packed weights of a linear layer, and of
///   convolutions: of two dimensions, transposed, of three.
/// - 'sum': a text. none, true, false, 3 and 0.5 are themselves.
struct Example {
  const char* name;
  const char* arguments;
};

constexpr Example kExamples[] = {
    {"aten::conv1d", "f2x4x9 f6x4x3 f6 [1] [1] [1] 1"},
    {"aten::conv2d", "f2x4x8x8 f6x4x3x3 f6 [1,1] [1,1] [1,1] 1"},
    {"aten::conv2d.padding", "f2x4x8x8 f6x4x3x3 f6 [1,1] 'same' [1,1] 1"},
    {"aten::conv3d", "f2x4x5x5x5 f6x4x3x3x3 f6 [1,1,1] [1,1,1] [1,1,1] 1"},
    {"aten::conv3d.padding", "f2x4x5x5x5 f6x4x3x3x3 f6 [1,1,1] 'same' [1,1,1] 1"},
    {"aten::conv_transpose1d", "f2x4x9 f4x6x3 f6 [2] [1] [1] 1 [1]"},
    {"aten::conv_transpose2d.input", "f2x4x8x8 f4x6x3x3 f6 [2,2] [1,1] [1,1] 1 [1,1]"},
    {"aten::conv_transpose3d.input", "f2x4x5x5x5 f4x6x3x3x3 f6 [2,2,2] [1,1,1] [1,1,1] 1 [1,1,1]"},
    {"aten::convolution", "f2x4x8x8 f6x4x3x3 f6 [1,1] [1,1] [1,1] false [0,0] 1"},
    {"aten::_convolution",
     "f2x4x8x8 f6x4x3x3 f6 [1,1] [1,1] [1,1] false [0,0] 1 false false false false"},
    {"aten::_convolution.deprecated",
     "f2x4x8x8 f6x4x3x3 f6 [1,1] [1,1] [1,1] false [0,0] 1 false false false"},
    {"aten::_convolution_mode", "f2x4x8x8 f6x4x3x3 f6 [1,1] 'same' [1,1] 1"},
    {"aten::conv_tbc", "f5x2x4 f3x4x6 f6 1"},
    {"aten::max_pool1d", "f2x4x9 [3] [2] [1] [1] false"},
    {"aten::max_pool1d_with_indices", "f2x4x9 [3] [2] [1] [1] false"},
    {"aten::max_pool2d", "f2x4x9x9 [3,3] [2,2] [1,1] [1,1] false"},
    {"aten::max_pool2d_with_indices", "f2x4x9x9 [3,3] [2,2] [1,1] [1,1] false"},
    {"aten::max_pool3d", "f2x4x5x5x5 [3,3,3] [2,2,2] [1,1,1] [1,1,1] false"},
    {"aten::max_pool3d_with_indices", "f2x4x5x5x5 [3,3,3] [2,2,2] [1,1,1] [1,1,1] false"},
    {"aten::avg_pool1d", "f2x4x9 [3] [2] [1] false true"},
    {"aten::avg_pool2d", "f2x4x9x9 [3,3] [2,2] [1,1] false true none"},
    {"aten::avg_pool3d", "f2x4x5x5x5 [3,3,3] [2,2,2] [1,1,1] false true none"},
    {"aten::max_unpool2d", "f1x2x3x3 l1x2x3x3 [6,6]"},
    {"aten::max_unpool3d", "f1x2x3x3x3 l1x2x3x3x3 [6,6,6] [2,2,2] [0,0,0]"},
    {"aten::adaptive_avg_pool2d", "f2x4x9x9 [2,3]"},
    {"aten::_adaptive_avg_pool3d", "f2x4x5x5x5 [2,3,2]"},
    {"aten::adaptive_max_pool2d", "f2x4x9x9 [2,3]"},
    {"aten::fractional_max_pool2d", "f2x4x9x9 [2,2] [4,4] f2x4x2"},
    {"aten::quantized_max_pool1d", "u2x4x9 [3] [2] [1] [1] false"},
    {"aten::quantized_max_pool2d", "u2x4x9x9 [3,3] [2,2] [1,1] [1,1] false"},
    {"quantized::max_pool1d", "u2x4x9 [3] [2] [1] [1] false"},
    {"quantized::max_pool2d", "u2x4x9x9 [3,3] [2,2] [1,1] [1,1] false"},
    {"aten::im2col", "f2x4x9x9 [3,3] [1,1] [1,1] [2,2]"},
    {"aten::col2im", "f2x36x25 [9,9] [3,3] [1,1] [1,1] [2,2]"},
    {"aten::reflection_pad1d", "f2x4x9 [2,3]"},
    {"aten::reflection_pad2d", "f2x4x9x9 [2,3,1,0]"},
    {"aten::reflection_pad3d", "f2x4x5x5x5 [2,3,1,0,1,1]"},
    {"aten::replication_pad1d", "f2x4x9 [2,3]"},
    {"aten::replication_pad2d", "f2x4x9x9 [2,3,1,0]"},
    {"aten::replication_pad3d", "f2x4x5x5x5 [2,3,1,0,1,1]"},
    {"aten::pixel_shuffle", "f2x8x3x3 2"},
    {"aten::pixel_unshuffle", "f2x2x6x6 2"},
    {"aten::channel_shuffle", "f2x8x3x3 4"},
    {"aten::upsample_nearest1d", "f2x4x5 [10] none"},
    {"aten::upsample_nearest2d", "f2x4x5x5 [10,8] none none"},
    {"aten::upsample_nearest3d", "f2x4x3x3x3 [6,5,7] none none none"},
    {"aten::upsample_nearest1d.vec", "f2x4x5 none {2}"},
    {"aten::upsample_nearest2d.vec", "f2x4x5x5 none {2,1.5}"},
    {"aten::upsample_nearest3d.vec", "f2x4x3x3x3 none {2,1.5,2}"},
    {"aten::_upsample_nearest_exact1d", "f2x4x5 [10] none"},
    {"aten::_upsample_nearest_exact2d", "f2x4x5x5 [10,8] none none"},
    {"aten::_upsample_nearest_exact3d", "f2x4x3x3x3 [6,5,7] none none none"},
    {"aten::_upsample_nearest_exact1d.vec", "f2x4x5 none {2}"},
    {"aten::_upsample_nearest_exact2d.vec", "f2x4x5x5 none {2,1.5}"},
    {"aten::_upsample_nearest_exact3d.vec", "f2x4x3x3x3 none {2,1.5,2}"},
    {"aten::upsample_linear1d", "f2x4x5 [10] false none"},
    {"aten::upsample_bilinear2d", "f2x4x5x5 [10,8] false none none"},
    {"aten::upsample_bicubic2d", "f2x4x5x5 [10,8] false none none"},
    {"aten::upsample_trilinear3d", "f2x4x3x3x3 [6,5,7] false none none none"},
    {"aten::upsample_bilinear2d.vec", "f2x4x5x5 none false {2,1.5}"},
    {"aten::upsample_trilinear3d.vec", "f2x4x3x3x3 none false {2,1.5,2}"},
    {"aten::_upsample_bilinear2d_aa", "f2x4x5x5 [10,8] false none none"},
    {"aten::_upsample_bicubic2d_aa", "f2x4x5x5 [10,8] false none none"},
    {"aten::_upsample_bilinear2d_aa.vec", "f2x4x5x5 none false {2,1.5}"},
    {"aten::_upsample_bicubic2d_aa.vec", "f2x4x5x5 none false {2,1.5}"},
    {"aten::grid_sampler", "f2x3x5x5 f2x4x6x2 0 0 false"},
    {"aten::grid_sampler_2d", "f2x3x5x5 f2x4x6x2 0 0 false"},
    {"aten::grid_sampler_3d", "f2x3x4x4x4 f2x3x4x5x3 0 0 false"},
    {"aten::affine_grid_generator", "f2x2x3 [2,3,4,5] false"},
    {"aten::instance_norm", "f2x4x5 f4 f4 none none true 0.1 0.001 false"},
    {"aten::batch_norm", "f2x4x5 f4 f4 f4 p4 false 0.1 0.001 false"},
    {"aten::_batch_norm_impl_index", "f2x4x5 f4 f4 f4 p4 false 0.1 0.001 false"},
    {"aten::layer_norm", "f2x4x5 [4,5] f4x5 f4x5 0.001 false"},
    {"aten::group_norm", "f2x4x5 2 f4 f4 0.001 false"},
    {"quantized::layer_norm", "u2x4x5 [4,5] f4x5 f4x5 0.001 0.1 3"},
    {"quantized::group_norm", "u2x4x5 2 f4 f4 0.001 0.1 3"},
    {"quantized::instance_norm", "u2x4x5 f4 f4 0.001 0.1 3"},
    {"quantized::batch_norm", "u2x4x5x5 f4 f4 f4 p4 0.001 0.1 3"},
    {"quantized::batch_norm_relu", "u2x4x5x5 f4 f4 f4 p4 0.001 0.1 3"},
    {"quantized::batch_norm2d", "u2x4x5x5 f4 f4 f4 p4 0.001 0.1 3"},
    {"quantized::batch_norm2d_relu", "u2x4x5x5 f4 f4 f4 p4 0.001 0.1 3"},
    {"quantized::batch_norm3d", "u2x4x3x3x3 f4 f4 f4 p4 0.001 0.1 3"},
    {"quantized::batch_norm3d_relu", "u2x4x3x3x3 f4 f4 f4 p4 0.001 0.1 3"},
    {"aten::embedding_bag", "f6x3 l5 l2 false 0 false none false"},
    {"aten::_embedding_bag", "f6x3 l5 l2 false 0 false none false -1"},
    {"aten::embedding_bag.padding_idx", "f6x3 l5 l2 false 0 false none false 1"},
    {"aten::lstm.input",
     "f2x3x4 (f1x3x5,f1x3x5) (f20x4,f20x5,f20,f20) true 1 0.0 false false false"},
    {"aten::lstm.data", "f5x4 l3 (f1x3x5,f1x3x5) (f20x4,f20x5,f20,f20) true 1 0.0 false false"},
    {"aten::gru.input", "f2x3x4 f1x3x5 (f15x4,f15x5,f15,f15) true 1 0.0 false false false"},
    {"aten::rnn_relu.input", "f2x3x4 f1x3x5 (f5x4,f5x5,f5,f5) true 1 0.0 false false false"},
    {"aten::rnn_tanh.input", "f2x3x4 f1x3x5 (f5x4,f5x5,f5,f5) true 1 0.0 false false false"},
    {"aten::lstm_cell", "f3x4 (f3x5,f3x5) f20x4 f20x5 f20 f20"},
    {"aten::gru_cell", "f3x4 f3x5 f15x4 f15x5 f15 f15"},
    {"aten::rnn_relu_cell", "f3x4 f3x5 f5x4 f5x5 f5 f5"},
    {"aten::rnn_tanh_cell", "f3x4 f3x5 f5x4 f5x5 f5 f5"},
    {"aten::_native_multi_head_attention",
     "f2x3x8 f2x3x8 f2x3x8 8 2 f24x8 f24 f8x8 f8 none true true none"},
    {"aten::_scaled_dot_product_attention", "f2x2x3x8 f2x2x5x8 f2x2x5x8 none 0.0 false false"},
    {"aten::_scaled_dot_product_attention_math", "f2x2x3x8 f2x2x5x8 f2x2x5x8 none 0.0 false false"},
    {"aten::scaled_dot_product_attention", "f2x2x3x8 f2x2x5x8 f2x2x5x8"},
    {"aten::mm", "f3x4 f4x5"},
    {"aten::bmm", "f2x3x4 f2x4x5"},
    {"aten::mv", "f3x4 f4"},
    {"aten::dot", "f4 f4"},
    {"aten::addmm", "f3x5 f3x4 f4x5 1 1"},
    {"aten::addmm_", "f3x5 f3x4 f4x5 1 1"},
    {"aten::addmv", "f3 f3x4 f4 1 1"},
    {"aten::addmv_", "f3 f3x4 f4 1 1"},
    {"aten::addr_", "f3x4 f3 f4 1 1"},
    {"aten::addbmm", "f3x5 f2x3x4 f2x4x5 1 1"},
    {"aten::addbmm_", "f3x5 f2x3x4 f2x4x5 1 1"},
    {"aten::baddbmm", "f2x3x5 f2x3x4 f2x4x5 1 1"},
    {"aten::baddbmm_", "f2x3x5 f2x3x4 f2x4x5 1 1"},
    {"aten::einsum", "'bij,bjk->bik' (f2x3x4,f2x4x5) none"},
    {"aten::tensordot", "f3x4x5 f4x5x6 [1,2] [0,1]"},
    {"aten::_trilinear", "f2x3x4 f2x3x4 f2x3x4 [] [] [] [1] 1"},
    {"aten::bilinear", "f2x3 f2x4 f5x3x4 f5"},
    {"aten::cdist", "f2x3x4 f2x5x4 2.0 none"},
    {"aten::cross", "f2x3 f2x3 1"},
    {"aten::linalg_cholesky", "e4x4 false"},
    {"aten::linalg_cholesky_ex", "e4x4 false false"},
    {"aten::cholesky", "e4x4 false"},
    {"aten::cholesky_solve", "f4x2 e4x4 false"},
    {"aten::linalg_det", "e4x4"},
    {"aten::linalg_eig", "e4x4"},
    {"aten::linalg_eigh", "e4x4 'L'"},
    {"aten::linalg_eigvalsh", "e4x4 'L'"},
    {"aten::_linalg_eigh", "e4x4 'L' true"},
    {"aten::linalg_householder_product", "f5x3 f3"},
    {"aten::linalg_inv", "e4x4"},
    {"aten::linalg_slogdet", "e4x4"},
    {"aten::linalg_solve", "e4x4 f4x2 true"},
    {"aten::_linalg_solve_ex", "e4x4 f4x2 true false"},
    {"aten::linalg_solve_triangular", "e4x4 f4x2 true true false"},
    {"aten::triangular_solve", "f4x2 e4x4 true false false"},
    {"aten::linalg_tensorinv", "f2x3x6 2"},
    {"aten::linalg_tensorsolve", "e6x6 f6 none"},
    {"aten::linalg_matrix_norm", "f3x4 2 [0,1] false none"},
    {"aten::logdet", "e4x4"},
    {"aten::symeig", "e4x4 true true"},
    {"aten::orgqr", "f5x3 f3"},
    {"aten::ormqr", "f5x3 f3 f5x2 true false"},
    {"aten::nuclear_norm.dim", "f3x4 [0,1] false"},
    {"aten::stft", "f2x32 8 none none none false none true"},
    {"aten::stft.center", "f2x32 8 none none none true 'reflect' false none true"},
    {"aten::istft", "c2x5x9 8 none none p8 true false none none false"},
    {"aten::binary_cross_entropy", "p3x4 p3x4 none 1"},
    {"aten::binary_cross_entropy_with_logits", "f3x4 p3x4 none none 1"},
    {"aten::cosine_embedding_loss", "f3x4 f3x4 p3 0.0 1"},
    {"aten::cross_entropy_loss", "f3x4 l3 none 1 -100 0.0"},
    {"aten::nll_loss", "f3x4 l3 none 1 -100"},
    {"aten::nll_loss_nd", "f3x4 l3 none 1 -100"},
    {"aten::nll_loss2d", "f2x3x4x4 l2x4x4 none 1 -100"},
    {"aten::multi_margin_loss", "f3x4 l3 1 1 none 1"},
    {"aten::multilabel_margin_loss", "f3x4 l3x4 1"},
    {"aten::ctc_loss.Tensor", "f5x2x4 l2x1 l2 l2 0 1 true"},
    {"aten::_pack_padded_sequence", "f3x2x4 l2 false"},
    {"aten::multinomial", "p3x4 2 false none"},
    {"aten::bernoulli.Tensor", "f3x4 p3x4 none"},
    {"aten::bernoulli_.Tensor", "f3x4 p3x4 none"},
    {"aten::poisson", "p3x4 none"},
    {"aten::geometric_", "f3x4 0.5 none"},
    {"aten::normal.float_Tensor", "0.0 p3x4 none"},
    {"aten::quantile", "f3x4 p2 1 false 'linear'"},
    {"aten::index_add", "f3x4 1 l2 f3x2 1"},
    {"aten::index_add_", "f3x4 1 l2 f3x2 1"},
    {"aten::index_copy", "f3x4 1 l2 f3x2"},
    {"aten::index_copy_", "f3x4 1 l2 f3x2"},
    {"aten::index_fill.int_Tensor", "f3x4 1 l2 f"},
    {"aten::index_fill_.int_Tensor", "f3x4 1 l2 f"},
    {"aten::index_reduce", "f3x4 1 l2 f3x2 'mean' true"},
    {"aten::index_reduce_", "f3x4 1 l2 f3x2 'mean' true"},
    {"aten::index.Tensor", "f3x4 (l2,l2)"},
    {"aten::index_put", "f3x4 (l2,l2) f2 false"},
    {"aten::index_put_", "f3x4 (l2,l2) f2 true"},
    {"aten::gather", "f3x4 1 l3x2 false"},
    {"aten::scatter.src", "f3x4 1 l3x2 f3x2"},
    {"aten::scatter_.src", "f3x4 1 l3x2 f3x2"},
    {"aten::scatter_add", "f3x4 1 l3x2 f3x2"},
    {"aten::scatter_add_", "f3x4 1 l3x2 f3x2"},
    {"aten::scatter.reduce", "f3x4 1 l3x2 f3x2 'add'"},
    {"aten::scatter_.reduce", "f3x4 1 l3x2 f3x2 'multiply'"},
    {"aten::scatter.value_reduce", "f3x4 1 l3x2 2 'add'"},
    {"aten::scatter_.value_reduce", "f3x4 1 l3x2 2 'add'"},
    {"aten::scatter_reduce.two", "f3x4 1 l3x2 f3x2 'amax' true"},
    {"aten::scatter_reduce_.two", "f3x4 1 l3x2 f3x2 'amax' true"},
    {"aten::masked_fill_.Tensor", "f3x4 b3x4 f"},
    {"aten::masked_scatter", "f3x4 b3x4 f12"},
    {"aten::masked_scatter_", "f3x4 b3x4 f12"},
    {"aten::select_scatter", "f3x4 f3 1 2"},
    {"aten::diagonal_scatter", "f3x4 f3 0 0 1"},
    {"aten::slice_scatter", "f3x4 f3x2 1 0 2 1"},
    {"aten::as_strided", "f12 [3,2] [4,1] 1"},
    {"aten::as_strided_scatter", "f12 f3x2 [3,2] [4,1] 1"},
    {"aten::repeat_interleave.self_Tensor", "f3x4 l3 0 none"},
    {"aten::repeat_interleave.Tensor", "l3 none"},
    {"aten::meshgrid.indexing", "(f3,f4) 'ij'"},
    {"aten::view_as_complex", "f3x2"},
    {"aten::view_as_real", "c3x2"},
    {"aten::view_as_real_copy", "c3x2"},
    {"aten::float_power_.Tensor", "d3 d3"},
    {"aten::lcm_", "l3 l3"},
    {"aten::quantize_per_channel", "f3x4 p4 l4 1 12"},
    {"aten::quantize_per_tensor.tensor_qparams", "f3x4 p l 12"},
    {"aten::fake_quantize_per_channel_affine", "f3x4 p4 p4 1 0 255"},
    {"aten::fake_quantize_per_channel_affine_cachemask", "f3x4 p4 p4 1 0 255"},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams", "f3x4 p1 p1 0 255"},
    {"aten::histc", "f3x4 5 0 1"},
    {"aten::bincount", "l5 none 3"},
    {"aten::searchsorted.Tensor", "p5 p3 false false none none"},
    {"aten::bucketize.Tensor", "p3 p5 false false"},
    {"aten::unfold", "f3x9 1 3 2"},
    {"aten::roll", "f3x4 [1,2] [0,1]"},
    {"aten::renorm", "f3x4 2 0 1"},
    {"aten::prelu", "f2x4x3 f4"},
    {"aten::rot90", "f3x4 1 [0,1]"},
    {"quantized::linear", "u3x8 linear4x8 0.1 3"},
    {"quantized::linear_relu", "u3x8 linear4x8 0.1 3"},
    {"quantized::linear_dynamic", "f3x8 linear4x8 false"},
    {"quantized::linear_relu_dynamic", "f3x8 linear4x8 false"},
    {"quantized::conv1d", "u2x3x8 flat6x3x3 0.1 3"},
    {"quantized::conv1d_relu", "u2x3x8 flat6x3x3 0.1 3"},
    {"quantized::conv2d.new", "u2x3x8x8 conv6x3x3x3 0.1 3"},
    {"quantized::conv2d_relu.new", "u2x3x8x8 conv6x3x3x3 0.1 3"},
    {"quantized::conv3d.new", "u2x3x5x5x5 deep6x3x3x3x3 0.1 3"},
    {"quantized::conv3d_relu.new", "u2x3x5x5x5 deep6x3x3x3x3 0.1 3"},
    {"quantized::conv_transpose2d", "u2x6x8x8 back6x3x3x3 0.1 3"},
    {"quantized::conv_prepack", "s6x3x3x3 f6 [1,1] [0,0] [1,1] 1"},
    {"quantized::conv1d_prepack", "s6x3x3 f6 [1] [0] [1] 1"},
    {"quantized::conv2d_prepack", "s6x3x3x3 f6 [1,1] [0,0] [1,1] 1"},
    {"quantized::conv3d_prepack", "s6x3x3x3x3 f6 [1,1,1] [0,0,0] [1,1,1] 1"},
    {"quantized::conv_transpose1d_prepack", "s6x3x3 f3 [1] [0] [0] [1] 1"},
    {"quantized::conv_transpose2d_prepack", "s6x3x3x3 f3 [1,1] [0,0] [0,0] [1,1] 1"},
    {"quantized::add_scalar.Tensor", "u3x4 f"},
    {"quantized::cat", "(u3x4,u2x4) 0 0.1 3"},
};

using Sizes = std::vector<std::int64_t>;

/// Returns the numbers of "2x3" or "1,2".
template <typename Number>
std::vector<Number> numbers_of(std::string text) {
  std::ranges::replace(text, 'x', ' ');
  std::ranges::replace(text, ',', ' ');
  std::istringstream in(text);
  std::vector<Number> numbers;
  for (Number number{}; in >> number;) numbers.push_back(number);
  return numbers;
}

at::Tensor tensor_of(const std::string& word) {
  const Sizes sizes = numbers_of<std::int64_t>(word.substr(1));
  const auto count = [&] { return at::arange(at::empty(sizes).numel()).reshape(sizes); };
  switch (word.front()) {
    case 'd':
      return at::rand(sizes, at::kDouble);
    case 'c':
      return at::rand(sizes, at::kComplexFloat);
    case 'l':
      return count().remainder(2).to(at::kLong);
    case 'b':
      return count().remainder(2).to(at::kBool);
    case 'e':
      return at::eye(sizes.front()).mul(3).add(1);
    case 'p':
      return at::rand(sizes).mul(0.5).add(0.25);
    case 'u':
      return at::quantize_per_tensor(at::rand(sizes), 0.05, 3, at::kQUInt8);
    case 's':
      return at::quantize_per_tensor(at::rand(sizes), 0.05, 0, at::kQInt8);
    default:
      return at::rand(sizes);
  }
}

/// Returns packed weights, as "conv6x3x3x3" says.
c10::IValue packed_of(const std::string& word) {
  const std::size_t digits = word.find_first_of("0123456789");
  const std::string kind = word.substr(0, digits);
  const at::Tensor weight = tensor_of("s" + word.substr(digits));
  torch::jit::Stack stack{weight, c10::IValue()};
  const auto name = [&] {
    if (kind == "linear") return "quantized::linear_prepack";
    if (kind == "flat") return "quantized::conv1d_prepack";
    if (kind == "deep") return "quantized::conv3d_prepack";
    return kind == "back" ? "quantized::conv_transpose2d_prepack" : "quantized::conv2d_prepack";
  }();
  if (kind != "linear") {
    const auto dimensions = static_cast<std::size_t>(weight.dim() - 2);
    stack.emplace_back(Sizes(dimensions, 1));
    stack.emplace_back(Sizes(dimensions, 0));
    if (kind == "back") stack.emplace_back(Sizes(dimensions, 0));
    stack.emplace_back(Sizes(dimensions, 1));
    stack.emplace_back(std::int64_t{1});
  }
  torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).at(0)->getOperation()(stack);
  return stack.at(0);
}

c10::IValue value_of(const std::string& word) {
  if (word == "none") return {};
  if (word == "true" || word == "false") return word == "true";
  const std::string inner = word.size() < 2 ? "" : word.substr(1, word.size() - 2);
  switch (word.front()) {
    case '\'':
      return inner;
    case '[':
      return numbers_of<std::int64_t>(inner);
    case '{':
      return numbers_of<double>(inner);
    case '(': {
      std::vector<at::Tensor> list;
      std::istringstream words(inner);
      for (std::string one; std::getline(words, one, ',');) list.push_back(tensor_of(one));
      return list;
    }
    default:
      break;
  }
  for (const char* const kind : {"linear", "flat", "conv", "back", "deep"}) {
    if (word.starts_with(kind)) return packed_of(word);
  }
  if (std::string_view("fdclbepus").find(word.front()) != std::string_view::npos) {
    return tensor_of(word);
  }
  if (word.find('.') != std::string::npos) return std::stod(word);
  return std::int64_t{std::stoll(word)};
}

}  // namespace

std::optional<std::vector<c10::IValue>> example_of(const c10::FunctionSchema& schema) {
  const std::string name = c10::toString(schema.operator_name());
  const auto* const found =
      std::ranges::find(kExamples, name, [](const Example& one) { return std::string(one.name); });
  if (found == std::end(kExamples)) return std::nullopt;
  std::vector<c10::IValue> values;
  std::istringstream words(found->arguments);
  for (std::string word; words >> word;) values.push_back(value_of(word));
  for (std::size_t i = values.size(); i < schema.arguments().size(); ++i) {
    values.push_back(schema.arguments()[i].default_value().value_or(c10::IValue()));
  }
  return values;
}

}  // namespace pareto::fuzz
