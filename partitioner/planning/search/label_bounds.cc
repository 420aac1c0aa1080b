#include "partitioner/planning/search/label_bounds.h"

#include <algorithm>
#include <cmath>

namespace pareto::search {
namespace {

constexpr std::int64_t kUncapped = std::int64_t{1} << 52;
/// The factor from one rung to the next.
constexpr double kDescent = 0.75;

}  // namespace

std::int64_t rounded_down(double sum) {
  return static_cast<std::int64_t>(std::floor(sum - std::abs(sum) * 1e-9));
}

LabelBounds::LabelBounds(const SearchTables& tables, const AlsoObjectives& also) {
  std::int64_t longest = 0;
  for (const Hop& hop : tables.hops) longest = std::max(longest, std::ranges::max(hop.occupancy));
  for (const Port& exit : tables.exits) longest = std::max(longest, std::ranges::max(exit.busy));
  std::int64_t cap = kUncapped;
  for (std::size_t rung = 0; rung < kMostRungs; ++rung) {
    auto to_go = std::make_unique<LatencyToGo>(tables);
    const auto least = to_go->solve(cap);
    if (!rungs_.empty()) rungs_.back().above = cap + 1;
    to_go->end_solving();
    if (!least) break;
    rungs_.push_back({cap, 0, std::move(to_go)});
    // A stage or link takes no more than the whole of the fastest way, nor than the longest there
    // is.
    const double below =
        rung == 0 ? static_cast<double>(std::min(*least, 2 * longest)) : static_cast<double>(cap);
    cap = static_cast<std::int64_t>(below * kDescent);
  }
  if (rungs_.empty()) return;
  for (std::size_t i = 0; i < also.size(); ++i) {
    if (also[i]->searched->stages != planning::Combine::kSum) continue;
    auto sum = std::make_unique<LatencyToGo>(tables, i);
    sum->solve(kUncapped);
    sum->end_solving();
    sums_.emplace_back(i, std::move(sum));
  }
}

}  // namespace pareto::search
