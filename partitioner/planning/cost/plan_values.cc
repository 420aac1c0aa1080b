#include "partitioner/planning/cost/plan_values.h"

#include <algorithm>
#include <cmath>

namespace pareto::planning {

HopView hop_view(const CostInputs& inputs, const LinkCosts& link, int codec, int position) {
  const CodecFigures& figures = codec_figures(link, codec, position);
  const double bytes = static_cast<double>(inputs.boundary(position)) * figures.bytes_factor;
  return {std::llround(bytes), figures.loss};
}

std::int64_t hop_value(const Objective& objective, const HopView& hop) {
  return objective.searched->of_hop == nullptr ? 0 : objective.searched->of_hop(hop);
}

std::int64_t stage_value(const Objective& objective, const DeviceCosts& device, int begin, int end,
                         Nanoseconds time) {
  const SearchedFigure& searched = *objective.searched;
  if (searched.of_stage != nullptr) {
    return searched.of_stage({stage_memory_bytes(device, begin, end)});
  }
  if (searched.rate == nullptr) return 0;
  const StageRate rate = searched.rate(device.figures);
  return rate.fixed + rate.per_nanosecond * time.count();
}

std::int64_t combined(Combine how, std::int64_t a, std::int64_t b) {
  return how == Combine::kMaximum ? std::max(a, b) : a + b;
}

std::int64_t of_replicas(Combine how, std::int64_t value, std::int64_t turn) {
  return how == Combine::kMean ? (value + turn - 1) / turn : value;
}

}  // namespace pareto::planning
