#include "runtime/torch/checked_few_bits.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"
#include "runtime/torch/packed_weights.h"

namespace pareto::runtime {
namespace {

using torch::jit::Stack;

/// Checks that each sample, and each row of it, has something in it: kernels of few bits divide by
/// its size, or read it.
void check_samples(const char* name) {
  put_before_input(name, [name](const at::Tensor& all) {
    const at::IntArrayRef sizes = all.sizes();
    if (!sizes.empty() && sizes.back() != 0 && std::ranges::count(sizes.slice(1), 0) == 0) return;
    throw std::runtime_error(fmt::format("{}: its input has samples of nothing", name));
  });
}

/// Checks that a tensor of few bits has something in it.
void check_anything(const char* name) {
  put_before_input(name, [name](const at::Tensor& all) {
    if (!all.is_quantized() || all.numel() > 0) return;
    throw std::runtime_error(fmt::format("{}: its input has nothing in it", name));
  });
}

/// Checks that a tensor of few bits has rows: the kernel goes through them.
void check_rows(const char* name) {
  put_before_input(name, [name](const at::Tensor& given) {
    if (!given.is_quantized() || given.dim() > 0) return;
    throw std::runtime_error(fmt::format("{}: its input has no dimension", name));
  });
}

/// Checks that what is put into a tensor of few bits is of float32 numbers, which kernels read.
void check_put(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, into = StackArgument(schema, "self"),
            values = StackArgument(schema, "values")](const Stack& stack) {
      const at::Tensor put = values.tensor_in(stack);
      if (!into.tensor_in(stack).is_quantized() || put.scalar_type() == at::kFloat) return;
      throw std::runtime_error(fmt::format("{}: it puts {} numbers into a tensor of few bits", name,
                                           c10::toString(put.scalar_type())));
    };
  });
}

/// Checks that weights which are packed have something in them, and a scale for each output if they
/// have several, and that a bias is one of plain numbers: kernels take that for granted.
void check_packed(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, weights = StackArgument(schema, schema.arguments().at(0).name()),
            bias = StackArgument(schema, schema.arguments().at(1).name()),
            groups = StackArgument(schema, "groups"),
            transposes =
                std::string(name).find("transpose") != std::string::npos](const Stack& stack) {
      const at::Tensor weight = weights.tensor_in(stack);
      const at::Tensor added = bias.tensor_in(stack);
      if (weight.numel() == 0) {
        throw std::runtime_error(fmt::format("{}: its weight has nothing in it", name));
      }
      const bool has_scales = weight.is_quantized() && weight.qscheme() == at::kPerChannelAffine;
      const std::int64_t outputs =
          transposes ? weight.size(1) * groups.in(stack).toInt() : weight.size(0);
      if (has_scales && weight.q_per_channel_scales().numel() < outputs) {
        throw std::runtime_error(fmt::format("{}: its weight has fewer scales than outputs", name));
      }
      if (added.defined() && (added.scalar_type() != at::kFloat || !added.is_contiguous())) {
        throw std::runtime_error(
            fmt::format("{}: its bias is not of float32 numbers, one behind the other", name));
      }
    };
  });
}

/// XNNPACK asserts that a layer's scales, input × weight / output, make 2^-32 to 2^8, and a
/// product's 2^-16 to 2^8. It counts in float32: twice or half of that is far enough from where it
/// rounds.
constexpr double kLeastOfLayers = 0x1p-31;
constexpr double kLeastOfProducts = 0x1p-15;
constexpr double kMost = 0x1p7;

/// Returns the scale of an operator's result: its last argument but one, under many names.
StackArgument scale_of_result(const c10::FunctionSchema& schema) {
  return {schema, schema.arguments().at(schema.arguments().size() - 2).name()};
}

bool runs_qnnpack() { return at::globalContext().qEngine() == at::QEngine::QNNPACK; }

/// Checks that a linear layer takes as many numbers as its input has: QNNPACK does not.
void check_columns(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, schema.arguments().at(0).name()),
            packed = StackArgument(schema, "W_prepack")](const Stack& stack) {
      if (!runs_qnnpack()) return;
      const at::Tensor weight = weight_of(packed.in(stack));
      const at::Tensor given = input.tensor_in(stack);
      if (given.dim() > 0 && weight.dim() == 2 && given.size(-1) == weight.size(1)) return;
      throw std::runtime_error(fmt::format("{}: its input has sizes {}, its weight {}", name,
                                           fmt::join(given.sizes(), "x"),
                                           fmt::join(weight.sizes(), "x")));
    };
  });
}

/// Returns whether XNNPACK runs what takes this tensor: products whatever the engine is, layers if
/// it is QNNPACK.
bool runs_xnnpack(const at::Tensor& input) {
  return input.defined() && input.is_quantized() && input.scalar_type() == at::kQInt8 &&
         input.qscheme() == at::kPerTensorAffine;
}

double least_scale(const at::Tensor& weight) {
  if (weight.qscheme() == at::kPerTensorAffine) return weight.q_scale();
  return weight.q_per_channel_scales().min().item<double>();
}

/// Checks that the product of the inputs' scales is not too small for the output's. Either may
/// be no number.
void check_scale(const char* name, double inputs, double output, double least) {
  if (inputs / output >= least && inputs / output <= kMost) return;
  throw std::runtime_error(fmt::format(
      "{}: the scale of its output, {}, is too far from those of what it takes, {} in all", name,
      output, inputs));
}

void check_layer_scales(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, schema.arguments().at(0).name()),
            packed = StackArgument(schema, schema.arguments().at(1).name()),
            output = scale_of_result(schema)](const Stack& stack) {
      const at::Tensor given = input.tensor_in(stack);
      if (!runs_qnnpack() || !runs_xnnpack(given)) return;
      check_scale(name, given.q_scale() * least_scale(weight_of(packed.in(stack))),
                  output.in(stack).toDouble(), kLeastOfLayers);
    };
  });
}

void check_product_scales(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, left = StackArgument(schema, schema.arguments().at(0).name()),
            right = StackArgument(schema, schema.arguments().at(1).name()),
            output = scale_of_result(schema)](const Stack& stack) {
      const at::Tensor a = left.tensor_in(stack);
      const at::Tensor b = right.tensor_in(stack);
      const c10::IValue scale = output.in(stack);
      if (!runs_xnnpack(a) || !runs_xnnpack(b) || !scale.isDouble()) return;
      if (a.numel() == 0 || b.numel() == 0) {
        throw std::runtime_error(fmt::format("{}: its input has nothing in it", name));
      }
      check_scale(name, a.q_scale() * b.q_scale(), scale.toDouble(), kLeastOfProducts);
    };
  });
}

/// Checks that numbers with a scale are not given other sizes in place: a layer may have taken them
/// for its weight, and packs that once.
void check_turn(const char* name) {
  put_before_input(name, [name](const at::Tensor& turned) {
    if (!turned.is_quantized()) return;
    throw std::runtime_error(fmt::format("{}: it is not for numbers with a scale", name));
  });
}

}  // namespace

void check_layers_of_few_bits() {
  check_rows("aten::topk");
  for (const char* const turn : {"aten::t_", "aten::transpose_", "aten::swapaxes_",
                                 "aten::swapdims_", "aten::squeeze_", "aten::unsqueeze_"}) {
    check_turn(turn);
  }
  for (const char* const put : {"aten::index_put", "aten::index_put_"}) check_put(put);
  for (const char* const pack : kPackingOperators) check_packed(pack);
  check_packed("quantized::linear_prepack");
  for (const char* const activation :
       {"aten::hardsigmoid", "aten::hardsigmoid_", "quantized::hardswish"}) {
    check_anything(activation);
  }
  for (const char* const layer :
       {"quantized::linear", "quantized::linear_relu", "quantized::linear_dynamic",
        "quantized::linear_relu_dynamic", "quantized::linear_dynamic_fp16",
        "quantized::linear_relu_dynamic_fp16", "aten::upsample_nearest1d",
        "aten::upsample_nearest2d", "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
        "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d",
        "aten::upsample_bilinear2d", "aten::__interpolate", "aten::__upsample",
        "aten::__upsample_bilinear", "aten::__upsample_nearest", "quantized::group_norm",
        "quantized::instance_norm"}) {
    check_samples(layer);
  }
  for (const char* const linear : {"quantized::linear", "quantized::linear_relu",
                                   "quantized::linear_dynamic", "quantized::linear_relu_dynamic"}) {
    check_columns(linear);
  }
  for (const char* const layer :
       {"quantized::linear", "quantized::linear_relu", "quantized::conv1d",
        "quantized::conv1d_relu", "quantized::conv2d", "quantized::conv2d_relu",
        "quantized::conv_transpose1d", "quantized::conv_transpose2d"}) {
    check_layer_scales(layer);
  }
  for (const char* const product : {"quantized::mul", "quantized::mul_relu"}) {
    check_product_scales(product);
  }
}

}  // namespace pareto::runtime
