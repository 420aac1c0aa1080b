#include "coordinator/load/ordered_results.h"

#include <algorithm>
#include <utility>

namespace pareto::load {
namespace {

/// The number of intervals that the mean remembers: long enough for the noise of one, short enough
/// to follow a link that changes.
constexpr std::uint64_t kRemembered = 32;

}  // namespace

void OrderedResults::done(StreamResult result) {
  const std::lock_guard lock(mutex_);
  if (result.place < next_) return;
  if (result.place > next_) {
    held_.try_emplace(result.place, std::move(result));
    return;
  }
  const TimePoint now = std::chrono::steady_clock::now();
  deliver(std::move(result), now);
  for (auto first = held_.begin(); first != held_.end() && first->first == next_;
       first = held_.begin()) {
    StreamResult held = std::move(first->second);
    held_.erase(first);
    deliver(std::move(held), now);
  }
}

void OrderedResults::deliver(StreamResult result, TimePoint now) {
  ++next_;
  if (last_) {
    const Nanoseconds interval = now - *last_;
    if (in_gap_) {
      rhythm_.gap = std::max(rhythm_.gap.value_or(interval), interval);
    } else {
      intervals_ = std::min(intervals_ + 1, kRemembered);
      mean_ns_ += (to_nanoseconds(interval) - mean_ns_) / static_cast<double>(intervals_);
    }
  }
  last_ = now;
  sink_.done(std::move(result));
}

std::uint64_t OrderedResults::delivered() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

std::size_t OrderedResults::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

void OrderedResults::begin_gap() {
  const std::lock_guard lock(mutex_);
  in_gap_ = true;
  rhythm_ = {};
  if (intervals_ > 0) rhythm_.period = from_nanoseconds(mean_ns_);
}

OrderedResults::Rhythm OrderedResults::end_gap() {
  const std::lock_guard lock(mutex_);
  in_gap_ = false;
  return std::exchange(rhythm_, {});
}

}  // namespace pareto::load
