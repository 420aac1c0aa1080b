#include "runtime/torch/checked_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/checked_few_bits.h"
#include "runtime/torch/checked_pictures.h"
#include "runtime/torch/checked_recurrent.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"

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

/// Checks that indices lie one behind the other, that bags of them do, and that each has a row of
/// weights.
void check_bags(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return
        [name, weight = StackArgument(schema, "weight"), indices = StackArgument(schema, "indices"),
         offsets = StackArgument(schema, "offsets"), mode = StackArgument(schema, "mode"),
         has_end = StackArgument(schema, "include_last_offset")](const Stack& stack) {
          const at::Tensor all = indices.tensor_in(stack);
          const at::Tensor bags = offsets.tensor_in(stack);
          if (!all.defined()) return;
          const c10::IValue end = has_end.in(stack);
          const bool placed = bags.defined()
                                  ? are_places(bags, all.numel(), end.isBool() && end.toBool())
                                  : all.numel() > 0;
          // Without offsets each row is a bag.
          if (!placed || !all.is_contiguous() || (bags.defined() && all.dim() != 1)) {
            throw std::runtime_error(fmt::format(
                "{}: indices do not lie one behind the other, or offsets lead elsewhere", name));
          }
          const at::Tensor rows = weight.tensor_in(stack);
          if (rows.defined() && rows.dim() != 2) {
            throw std::runtime_error(fmt::format("{}: its weight is no matrix", name));
          }
          const c10::IValue how = mode.in(stack);
          if (how.isInt() && (how.toInt() < 0 || how.toInt() > 2)) {
            throw std::runtime_error(fmt::format("{}: there is no mode {}", name, how.toInt()));
          }
        };
  });
}

/// Largest step of a transposed convolution, times its channels. oneDNN 3.7 ends the process at
/// some of eight times as much.
constexpr std::int64_t kFurthestStep = std::int64_t{1} << 17;

void check_steps(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    const bool is_always = std::string_view(name).find("transpose") != std::string_view::npos;
    return [=, weights = StackArgument(schema, "weight"), steps = StackArgument(schema, "stride"),
            transposes = StackArgument(schema, "transposed"),
            groups = StackArgument(schema, "groups")](const Stack& stack) {
      const c10::IValue is_transposed = transposes.in(stack);
      const at::Tensor weight = weights.tensor_in(stack);
      if (!is_always && !(is_transposed.isBool() && is_transposed.toBool())) return;
      if (!weight.defined() || weight.dim() < 2) return;
      const std::int64_t channels = weight.size(1) * groups.in(stack).toInt();
      for (const std::int64_t step : steps.in(stack).toIntVector()) {
        if (channels <= 0 || step <= kFurthestStep / channels) continue;
        throw std::runtime_error(fmt::format("{}: a step of {} is too large for {}", name, step,
                                             counted(channels, "channel")));
      }
    };
  });
}

/// Checks that a loss has classes.
void check_classes(const char* name) {
  put_before_input(name, [name](const at::Tensor& given) {
    if (given.dim() == 0 || given.size(given.dim() == 1 ? 0 : 1) > 0) return;
    throw std::runtime_error(fmt::format("{}: its input has no class", name));
  });
}

/// Checks that a loss has a weight for each class.
void check_class_weights(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "self"),
            weights = StackArgument(schema, "weight")](const Stack& stack) {
      const at::Tensor given = input.tensor_in(stack);
      const at::Tensor weight = weights.tensor_in(stack);
      if (!weight.defined() || given.dim() == 0) return;
      if (weight.dim() == 1 && weight.size(0) == given.size(-1)) return;
      throw std::runtime_error(fmt::format("{}: it has {} for {}", name,
                                           counted(weight.numel(), "weight"),
                                           counted(given.size(-1), "class", "classes")));
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

/// Checks that a matrix is of finite numbers: LAPACK goes on with sizes that it has not set.
void check_finite(const char* name) {
  put_before_input(name, [name](const at::Tensor& matrix) {
    if (at::isfinite(matrix).all().item<bool>()) return;
    throw std::runtime_error(fmt::format("{}: a number is not finite", name));
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

/// Checks that an encoder's norms have a weight and a bias for each number of an embedding: of
/// nested samples its kernel does not.
void check_encoder_norms(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> norms;
    for (const char* const one : {"norm_weight_1", "norm_bias_1", "norm_weight_2", "norm_bias_2"}) {
      norms.emplace_back(schema, one);
    }
    return [name, norms, size = StackArgument(schema, "embed_dim")](const Stack& stack) {
      const std::int64_t wanted = size.in(stack).toInt();
      for (const StackArgument& norm : norms) {
        const at::Tensor numbers = norm.tensor_in(stack);
        if (numbers.is_contiguous() && numbers.numel() == wanted) continue;
        throw std::runtime_error(
            fmt::format("{}: a norm's numbers are not {}, one behind the other", name, wanted));
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
  for (const char* const attention :
       {"aten::_native_multi_head_attention", "aten::_transformer_encoder_layer_fwd"}) {
    check_divisors(attention, {"num_head", "num_heads"});
  }
  check_encoder_norms("aten::_transformer_encoder_layer_fwd");
  for (const char* const pack : kPackingOperators) {
    check_divisors(pack, {"stride", "dilation", "groups"});
    check_numbers(pack);
  }
  check_divisors("quantized::group_norm", {"num_groups"});
  for (const char* const pool : {"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d",
                                 "aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d"}) {
    check_divisors(pool, {"output_size"});
  }
  check_layers_of_pictures();
  check_layers_of_few_bits();
  for (const char* const values : {"aten::linalg_eig", "aten::linalg_eigvals"}) {
    check_finite(values);
  }
  for (const char* const transposed :
       {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
        "aten::convolution", "aten::_convolution"}) {
    check_steps(transposed);
  }
  for (const char* const loss : {"aten::nll_loss", "aten::nll_loss_nd", "aten::nll_loss2d",
                                 "aten::cross_entropy_loss", "aten::multi_margin_loss"}) {
    check_classes(loss);
  }
  check_class_weights("aten::multi_margin_loss");
  for (const char* const attention :
       {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention",
        "aten::_scaled_dot_product_attention_forward",
        "aten::_scaled_dot_product_attention_math"}) {
    check_attention(attention);
  }
}

}  // namespace pareto::runtime
