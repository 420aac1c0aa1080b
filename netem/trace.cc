#include "netem/trace.h"

#include <algorithm>

namespace pareto::netem {

Trace::Trace(const plan::LinkDirection& direction) : period_(direction.trace_period) {
  Row row{Nanoseconds(0), direction.delay, direction.bits_per_second};
  rows_.push_back(row);
  for (const plan::ConditionChange& change : direction.trace) {
    row.at = change.at;
    row.delay = change.delay.value_or(row.delay);
    row.bits_per_second = change.bits_per_second.value_or(row.bits_per_second);
    changes_rate_ = changes_rate_ || change.bits_per_second.has_value();
    if (row.at.count() == 0) rows_.clear();
    rows_.push_back(row);
  }
}

Trace::State Trace::at(Nanoseconds since) const {
  since = std::max(since, Nanoseconds(0));
  const Nanoseconds round = period_.count() > 0 ? since / period_ * period_ : Nanoseconds(0);
  const auto next = std::ranges::upper_bound(rows_, since - round, {}, &Row::at);
  const Row& row = *std::prev(next);
  State state{row.delay, row.bits_per_second, std::nullopt};
  if (next != rows_.end()) {
    state.until = round + next->at;
  } else if (period_.count() > 0) {
    state.until = round + period_;
  }
  return state;
}

}  // namespace pareto::netem
