#include "runtime/torch/checked_pictures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"

namespace pareto::runtime {
namespace {

using torch::jit::Stack;

/// Layers of pictures, and how many dimensions these have but that of samples.
constexpr std::array<std::pair<const char*, std::int64_t>, 15> kPictureLayers{
    {{"aten::avg_pool2d", 3},
     {"aten::avg_pool3d", 4},
     {"aten::adaptive_avg_pool2d", 3},
     {"aten::_adaptive_avg_pool2d", 3},
     {"aten::adaptive_avg_pool3d", 4},
     {"aten::_adaptive_avg_pool3d", 4},
     {"aten::max_pool2d", 3},
     {"aten::quantized_max_pool2d", 3},
     {"quantized::max_pool2d", 3},
     {"aten::reflection_pad1d", 2},
     {"aten::reflection_pad2d", 3},
     {"aten::reflection_pad3d", 4},
     {"aten::replication_pad1d", 2},
     {"aten::replication_pad2d", 3},
     {"aten::replication_pad3d", 4}}};

/// Checks that a picture has that many dimensions, with or without one for samples:
/// kernels take the last ones for it, whatever the others are.
void check_picture(const char* name, std::int64_t dimensions) {
  put_before_input(name, [name, dimensions](const at::Tensor& given) {
    if (given.dim() == dimensions || given.dim() == dimensions + 1) return;
    throw std::runtime_error(fmt::format("{}: its input has {}, not {} or {}", name,
                                         counted(given.dim(), "dimension"), dimensions,
                                         dimensions + 1));
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

/// Checks that there is a scale for each dimension of a picture.
void check_scale_list(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "input"),
            scales = StackArgument(schema, "scale_factor")](const Stack& stack) {
      const c10::IValue given = scales.in(stack);
      const std::int64_t dimensions = input.tensor_in(stack).dim() - 2;
      if (!given.isList()) return;
      const std::size_t count = given.toListRef().size();
      if (static_cast<std::int64_t>(count) >= dimensions) return;
      throw std::runtime_error(
          fmt::format("{}: it has {} for {}", name, counted(count, "scale"),
                      counted(static_cast<std::size_t>(dimensions), "dimension")));
    };
  });
}

}  // namespace

void check_layers_of_pictures() {
  for (const auto& [name, dimensions] : kPictureLayers) check_picture(name, dimensions);
  for (const char* const upsample :
       {"aten::upsample_linear1d", "aten::upsample_bilinear2d", "aten::upsample_bicubic2d",
        "aten::upsample_trilinear3d", "aten::_upsample_bilinear2d_aa",
        "aten::_upsample_bicubic2d_aa", "aten::upsample_nearest1d", "aten::upsample_nearest2d",
        "aten::upsample_nearest3d", "aten::_upsample_nearest_exact1d",
        "aten::_upsample_nearest_exact2d", "aten::_upsample_nearest_exact3d"}) {
    check_scales(upsample);
  }
  check_scale_list("aten::__interpolate");
  check_scale_list("aten::__upsample_bilinear");
}

}  // namespace pareto::runtime
