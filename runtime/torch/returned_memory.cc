#include "runtime/torch/returned_memory.h"

#include <string_view>
#include <unordered_set>

namespace pareto::runtime {

bool returns_own_memory(c10::Symbol name) {
  static const std::unordered_set<std::string_view> kNames{
      "aten::_convolution",
      "aten::adaptive_avg_pool2d",
      "aten::add",
      "aten::addmm",
      "aten::avg_pool2d",
      "aten::baddbmm",
      "aten::batch_norm",
      "aten::bmm",
      "aten::cat",
      "aten::clone",
      "aten::conv1d",
      "aten::conv2d",
      "aten::conv3d",
      "aten::conv_transpose1d",
      "aten::conv_transpose2d",
      "aten::conv_transpose3d",
      "aten::convolution",
      "aten::div",
      "aten::embedding",
      "aten::empty_like",
      "aten::exp",
      "aten::full_like",
      "aten::gelu",
      "aten::group_norm",
      "aten::hardsigmoid",
      "aten::hardswish",
      "aten::hardtanh",
      "aten::instance_norm",
      "aten::layer_norm",
      "aten::leaky_relu",
      "aten::linear",
      "aten::matmul",
      "aten::max_pool2d",
      "aten::mm",
      "aten::mul",
      "aten::ones_like",
      "aten::prelu",
      "aten::relu",
      "aten::rsub",
      "aten::sigmoid",
      "aten::silu",
      "aten::softmax",
      "aten::stack",
      "aten::sub",
      "aten::tanh",
      "aten::zeros_like",
      "pareto::chain",
      "pareto::concatenation",
      "pareto::convolution",
      "pareto::pooling",
  };
  return kNames.contains(name.toQualString());
}

}  // namespace pareto::runtime
