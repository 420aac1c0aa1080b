#include "tests/support/front_agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "partitioner/planning/search/point_front.h"

namespace pareto::test {

using search::FrontPoint;

namespace {

bool same(const FrontPoint& a, const FrontPoint& b) {
  return a.point == b.point && a.also == b.also;
}

std::string text(const FrontPoint& point) {
  return fmt::format("{} ns at window {}, also {}", point.point.latency.count(), point.point.window,
                     fmt::join(point.also, " "));
}

__extension__ using Wide = __int128;

bool as_good(const FrontPoint& a, const FrontPoint& b) {
  return a.point.latency <= b.point.latency &&
         std::ranges::equal(a.also, b.also, std::ranges::less_equal{}) &&
         Wide{a.point.window} * b.point.latency.count() >=
             Wide{b.point.window} * a.point.latency.count();
}

}  // namespace

std::string difference(const std::vector<FrontPoint>& a, const std::vector<FrontPoint>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!same(a[i], b[i])) return fmt::format("{}: {} | {}", i, text(a[i]), text(b[i]));
  }
  return a.size() == b.size() ? "" : fmt::format("{} | {} points", a.size(), b.size());
}

std::string flaw(const std::vector<FrontPoint>& front, const planning::CostInputs& inputs,
                 const search::SearchOptions& options) {
  for (std::size_t i = 0; i < front.size(); ++i) {
    const FrontPoint& here = front[i];
    const auto evaluation = planning::evaluate(inputs, here.placement);
    if (!evaluation) return evaluation.error().message;
    if (planning::at_window(*evaluation, here.point.window) != here.point ||
        search::also_at(*evaluation, options.also, here.point) != here.also ||
        here.point.window < options.windows.least || here.point.window > options.windows.most) {
      return fmt::format("{} is not what its placement does", text(here));
    }
    if (i > 0 && front[i - 1].point.latency > here.point.latency) {
      return text(here) + " stands in the wrong place";
    }
    for (std::size_t j = 0; j < front.size(); ++j) {
      if (i != j && as_good(front[j], here)) return text(here) + " is beaten by " + text(front[j]);
    }
  }
  return "";
}

}  // namespace pareto::test
