#include "runtime/torch/checked_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/checked_recurrent.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"
#include "runtime/torch/packed_linear.h"

namespace pareto::runtime {
namespace {

using torch::jit::Stack;

/// Layers whose kernels multiply the numbers that they take, and divide by a product that may be 0.
constexpr std::array kCountingLayers{"aten::_convolution",
                                     "aten::_convolution_mode",
                                     "aten::_pad_circular",
                                     "aten::_pad_enum",
                                     "aten::avg_pool1d",
                                     "aten::avg_pool2d",
                                     "aten::avg_pool3d",
                                     "aten::channel_shuffle",
                                     "aten::col2im",
                                     "aten::constant_pad_nd",
                                     "aten::conv1d",
                                     "aten::conv2d",
                                     "aten::conv3d",
                                     "aten::conv_transpose1d",
                                     "aten::conv_transpose2d",
                                     "aten::conv_transpose3d",
                                     "aten::convolution",
                                     "aten::im2col",
                                     "aten::max_pool1d",
                                     "aten::max_pool1d_with_indices",
                                     "aten::max_pool2d",
                                     "aten::max_pool2d_with_indices",
                                     "aten::max_pool3d",
                                     "aten::max_pool3d_with_indices",
                                     "aten::max_unpool2d",
                                     "aten::max_unpool3d",
                                     "aten::pad",
                                     "aten::pixel_shuffle",
                                     "aten::pixel_unshuffle",
                                     "aten::quantized_max_pool1d",
                                     "aten::quantized_max_pool2d",
                                     "aten::reflection_pad1d",
                                     "aten::reflection_pad2d",
                                     "aten::reflection_pad3d",
                                     "aten::replication_pad1d",
                                     "aten::replication_pad2d",
                                     "aten::replication_pad3d",
                                     "quantized::max_pool1d",
                                     "quantized::max_pool2d"};
/// No layer of any model takes a larger one.
constexpr std::int64_t kLargestNumber = std::int64_t{1} << 24;

void check_number(const char* name, std::int64_t number) {
  if (number >= -kLargestNumber && number <= kLargestNumber) return;
  throw std::runtime_error(fmt::format("{}: {} is not between -{} and {}", name, number,
                                       kLargestNumber, kLargestNumber));
}

void check_numbers(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> arguments;
    for (const c10::Argument& argument : schema.arguments()) {
      // Values of elements may be any.
      if (argument.type()->kind() == c10::TypeKind::NumberType) continue;
      arguments.emplace_back(schema, argument.name());
    }
    return [name, arguments](const Stack& stack) {
      for (const StackArgument& argument : arguments) {
        const c10::IValue value = argument.in(stack);
        if (value.isInt()) check_number(name, value.toInt());
        if (!value.isIntList()) continue;
        for (const std::int64_t number : value.toIntVector()) check_number(name, number);
      }
    };
  });
}

/// Norms whose kernels count through the numbers of channels in memory, whatever their sizes and
/// strides.
constexpr std::array kNorms{"aten::batch_norm",
                            "aten::_batch_norm_impl_index",
                            "aten::group_norm",
                            "quantized::batch_norm",
                            "quantized::batch_norm_relu",
                            "quantized::batch_norm1d",
                            "quantized::batch_norm2d",
                            "quantized::batch_norm3d",
                            "quantized::batch_norm1d_relu",
                            "quantized::batch_norm2d_relu",
                            "quantized::batch_norm3d_relu",
                            "quantized::group_norm",
                            "quantized::instance_norm"};

/// Checks that a tensor has that many elements one behind the other.
void check_elements(const char* name, const at::Tensor& tensor, std::int64_t elements) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  const auto all = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  if (tensor.numel() >= elements && all - tensor.storage_offset() >= elements) return;
  throw std::runtime_error(fmt::format("{}: a weight has not one number in memory for each of {}",
                                       name,
                                       counted(static_cast<std::size_t>(elements), "channel")));
}

void check_norm(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    const StackArgument input(schema, schema.arguments().at(0).name());
    std::vector<StackArgument> vectors;
    for (const char* const vector : {"weight", "bias", "mean", "var"}) {
      vectors.emplace_back(schema, vector);
    }
    return [=](const Stack& stack) {
      const at::Tensor given = input.tensor_in(stack);
      if (!given.defined() || given.dim() < 2) return;
      for (const StackArgument& vector : vectors) {
        check_elements(name, vector.tensor_in(stack), given.size(1));
      }
    };
  });
}

/// Returns whether offsets lead to places among that many indices, each behind the last.
bool are_places(const at::Tensor& offsets, std::int64_t indices, bool to_the_end) {
  if (offsets.dim() != 1 || !offsets.is_contiguous() || offsets.numel() == 0) return false;
  const auto last = offsets[-1].item<std::int64_t>();
  return offsets[0].item<std::int64_t>() == 0 && last <= indices &&
         (!to_the_end || last == indices) &&
         offsets.slice(0, 1).ge(offsets.slice(0, 0, -1)).all().item<bool>();
}

/// Checks that indices lie one behind the other, and that bags of them do.
void check_bags(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, indices = StackArgument(schema, "indices"),
            offsets = StackArgument(schema, "offsets"), mode = StackArgument(schema, "mode"),
            has_end = StackArgument(schema, "include_last_offset")](const Stack& stack) {
      const at::Tensor all = indices.tensor_in(stack);
      const at::Tensor bags = offsets.tensor_in(stack);
      if (!all.defined()) return;
      const c10::IValue end = has_end.in(stack);
      const bool placed = bags.defined()
                              ? are_places(bags, all.numel(), end.isBool() && end.toBool())
                              : all.numel() > 0;
      if (!placed || !all.is_contiguous()) {
        throw std::runtime_error(fmt::format(
            "{}: indices do not lie one behind the other, or offsets lead elsewhere", name));
      }
      const c10::IValue how = mode.in(stack);
      if (how.isInt() && (how.toInt() < 0 || how.toInt() > 2)) {
        throw std::runtime_error(fmt::format("{}: there is no mode {}", name, how.toInt()));
      }
    };
  });
}

/// Checks that a picture is not made larger than the scales that it is given make it: kernels look
/// for what lies beyond its end.
void check_scales(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> scales;
    for (const c10::Argument& argument : schema.arguments()) {
      if (argument.name().starts_with("scales")) scales.emplace_back(schema, argument.name());
    }
    return [name, scales, input = StackArgument(schema, schema.arguments().at(0).name()),
            output = StackArgument(schema, "output_size")](const Stack& stack) {
      const at::Tensor given = input.tensor_in(stack);
      const c10::IValue sizes = output.in(stack);
      const auto count = static_cast<std::int64_t>(scales.size());
      if (!given.defined() || given.dim() < count || !sizes.isIntList()) return;
      const c10::List<std::int64_t> made = sizes.toIntList();
      for (std::size_t i = 0; i < std::min(scales.size(), made.size()); ++i) {
        const c10::IValue scale = scales[i].in(stack);
        if (!scale.isDouble() || !(scale.toDouble() > 0)) continue;
        const auto before = given.size(given.dim() - count + static_cast<std::int64_t>(i));
        if (static_cast<double>(made.get(i)) <= static_cast<double>(before) * scale.toDouble()) {
          continue;
        }
        throw std::runtime_error(fmt::format("{}: {} times {} is less than {}", name, before,
                                             scale.toDouble(), made.get(i)));
      }
    };
  });
}

/// Checks that these arguments, numbers or lists of them, are at least 1: kernels divide by them.
void check_divisors(const char* name, const std::vector<std::string>& arguments) {
  put_before_each(name, [&](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> divisors;
    for (const std::string& argument : arguments) divisors.emplace_back(schema, argument);
    return [name, divisors](const Stack& stack) {
      for (const StackArgument& divisor : divisors) {
        const c10::IValue value = divisor.in(stack);
        const bool fits = value.isIntList() ? std::ranges::all_of(value.toIntVector(),
                                                                  [](auto n) { return n > 0; })
                                            : !value.isInt() || value.toInt() > 0;
        if (!fits) throw std::runtime_error(fmt::format("{}: a number is less than 1", name));
      }
    };
  });
}

/// Checks that each sample, and each row of it, has something in it: kernels of few bits divide by
/// its size, or read it.
void check_samples(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return
        [name, input = StackArgument(schema, schema.arguments().at(0).name())](const Stack& stack) {
          const at::Tensor all = input.tensor_in(stack);
          if (!all.defined()) return;
          const at::IntArrayRef sizes = all.sizes();
          if (!sizes.empty() && sizes.back() != 0 && std::ranges::count(sizes.slice(1), 0) == 0)
            return;
          throw std::runtime_error(fmt::format("{}: its input has samples of nothing", name));
        };
  });
}

/// Checks that a tensor of few bits has something in it.
void check_anything(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return
        [name, input = StackArgument(schema, schema.arguments().at(0).name())](const Stack& stack) {
          const at::Tensor all = input.tensor_in(stack);
          if (!all.defined() || !all.is_quantized() || all.numel() > 0) return;
          throw std::runtime_error(fmt::format("{}: its input has nothing in it", name));
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

/// Checks that a linear layer of few bits takes as many numbers as its input has: QNNPACK does not.
void check_columns(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, schema.arguments().at(0).name()),
            packed = StackArgument(schema, "W_prepack")](const Stack& stack) {
      if (at::globalContext().qEngine() != at::QEngine::QNNPACK) return;
      const at::Tensor weight = weight_of_linear(packed.in(stack));
      const at::Tensor given = input.tensor_in(stack);
      if (given.dim() > 0 && weight.dim() == 2 && given.size(-1) == weight.size(1)) return;
      throw std::runtime_error(fmt::format("{}: its input has sizes {}, its weight {}", name,
                                           fmt::join(given.sizes(), "x"),
                                           fmt::join(weight.sizes(), "x")));
    };
  });
}

/// Checks that there is a scale for each dimension of a picture.
void check_scale_list(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "input"),
            scales = StackArgument(schema, "scale_factor")](const Stack& stack) {
      const c10::IValue given = scales.in(stack);
      const std::int64_t dimensions = input.tensor_in(stack).dim() - 2;
      if (!given.isDoubleList() ||
          static_cast<std::int64_t>(given.toDoubleList().size()) >= dimensions) {
        return;
      }
      throw std::runtime_error(
          fmt::format("{}: it has {} for {}", name, counted(given.toDoubleList().size(), "scale"),
                      counted(static_cast<std::size_t>(dimensions), "dimension")));
    };
  });
}

/// Checks that attention has a value for each key, and a mask of as many of both: kernels go
/// through them side by side.
void check_attention(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, queries = StackArgument(schema, "query"), keys = StackArgument(schema, "key"),
            values = StackArgument(schema, "value"),
            masks = StackArgument(schema, "attn_mask")](const Stack& stack) {
      const at::Tensor query = queries.tensor_in(stack);
      const at::Tensor key = keys.tensor_in(stack);
      const at::Tensor value = values.tensor_in(stack);
      const at::Tensor mask = masks.tensor_in(stack);
      const auto fits = [](std::int64_t size, std::int64_t wanted) {
        return size == wanted || size == 1;
      };
      const bool sound =
          !query.is_nested() && !key.is_nested() && !value.is_nested() && query.dim() > 1 &&
          key.dim() > 1 && value.dim() > 1 && query.size(-1) == key.size(-1) &&
          key.size(-2) == value.size(-2) &&
          (!mask.defined() || (mask.dim() > 0 && fits(mask.size(-1), key.size(-2)) &&
                               (mask.dim() < 2 || fits(mask.size(-2), query.size(-2)))));
      if (!sound) {
        throw std::runtime_error(
            fmt::format("{}: its queries, keys, values and mask are not of one size", name));
      }
    };
  });
}

}  // namespace

void check_layers() {
  for (const char* const layer : kCountingLayers) check_numbers(layer);
  for (const char* const norm : kNorms) check_norm(norm);
  check_recurrent_layers();
  for (const char* const bag :
       {"aten::embedding_bag", "aten::_embedding_bag", "quantized::embedding_byte"}) {
    check_bags(bag);
  }
  for (const char* const upsample :
       {"aten::upsample_linear1d", "aten::upsample_bilinear2d", "aten::upsample_bicubic2d",
        "aten::upsample_trilinear3d", "aten::_upsample_bilinear2d_aa",
        "aten::_upsample_bicubic2d_aa", "aten::upsample_nearest1d", "aten::upsample_nearest2d",
        "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
        "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d"}) {
    check_scales(upsample);
  }
  for (const char* const attention :
       {"aten::_native_multi_head_attention", "aten::_transformer_encoder_layer_fwd"}) {
    check_divisors(attention, {"num_head", "num_heads"});
  }
  for (const char* const pack :
       {"quantized::conv_prepack", "quantized::conv1d_prepack", "quantized::conv2d_prepack",
        "quantized::conv3d_prepack", "quantized::conv_transpose1d_prepack",
        "quantized::conv_transpose2d_prepack"}) {
    check_divisors(pack, {"stride", "dilation", "groups"});
    check_numbers(pack);
    check_packed(pack);
  }
  check_packed("quantized::linear_prepack");
  check_divisors("quantized::group_norm", {"num_groups"});
  for (const char* const pool : {"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
                                 "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d"}) {
    check_divisors(pool, {"output_size"});
  }
  for (const char* const activation :
       {"aten::hardsigmoid", "aten::hardsigmoid_", "quantized::hardswish"}) {
    check_anything(activation);
  }
  for (const char* const linear : {"quantized::linear", "quantized::linear_relu",
                                   "quantized::linear_dynamic", "quantized::linear_relu_dynamic"}) {
    check_columns(linear);
  }
  check_scale_list("aten::__interpolate");
  check_scale_list("aten::__upsample_bilinear");
  for (const char* const attention :
       {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention",
        "aten::_scaled_dot_product_attention_forward",
        "aten::_scaled_dot_product_attention_math"}) {
    check_attention(attention);
  }
  for (const char* const layer :
       {"quantized::linear", "quantized::linear_relu", "quantized::linear_dynamic",
        "quantized::linear_relu_dynamic", "quantized::linear_dynamic_fp16",
        "quantized::linear_relu_dynamic_fp16", "aten::upsample_nearest1d",
        "aten::upsample_nearest2d", "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
        "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d",
        "aten::upsample_bilinear2d", "quantized::group_norm", "quantized::instance_norm"}) {
    check_samples(layer);
  }
}

}  // namespace pareto::runtime
