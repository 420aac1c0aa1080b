// Figures that colour cards.
#include <array>

#include "client/report/graph/graph_picture.h"
#include "client/report/plan_text.h"
#include "client/report/short_count.h"
#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

constexpr std::array<std::string_view, 5> kHeatNames{"none", "time", "flops", "activations",
                                                     "parameters"};

}  // namespace

double heat_of(const PictureNode& node, Heat heat) {
  switch (heat) {
    case Heat::kTime:
      return node.time_ms;
    case Heat::kFlops:
      return node.flops;
    case Heat::kActivations:
      return static_cast<double>(node.activation_bytes);
    case Heat::kParameters:
      return static_cast<double>(node.parameters());
    case Heat::kNone:
      break;
  }
  return 0;
}

std::vector<std::string> heat_names() { return {kHeatNames.begin(), kHeatNames.end()}; }

Expected<Heat> parse_heat(std::string_view name) {
  for (std::size_t i = 0; i < kHeatNames.size(); ++i) {
    if (kHeatNames[i] == name) return static_cast<Heat>(i);
  }
  const auto names = heat_names();
  return fail(ErrorCode::kNotFound, "no heat \"{}\"{}; there are {}", name,
              did_you_mean(std::string(name), names), join(names));
}

std::string heat_title(Heat heat, const GraphPictureOptions& options) {
  switch (heat) {
    case Heat::kTime:
      return "time on " + options.timed_on;
    case Heat::kFlops:
      return "FLOPs of one sample";
    case Heat::kActivations:
      return fmt::format("bytes of activations at batch {}", options.batch);
    case Heat::kParameters:
      return "parameters";
    case Heat::kNone:
      break;
  }
  return "";
}

std::string heat_text(Heat heat, double value) {
  switch (heat) {
    case Heat::kTime:
      return format_figure(value) + " ms";
    case Heat::kActivations:
      return format_bytes(static_cast<std::uint64_t>(value));
    default:
      return short_count(value);
  }
}

}  // namespace pareto::report::graph
