#include "coordinator/load/stream_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"

namespace pareto::load {
namespace {

constexpr double kStep = 1.0025;

}  // namespace

void LatencyCounts::add(Nanoseconds latency) {
  const double nanoseconds = std::max(to_nanoseconds(latency), 1.0);
  Step& step = steps_[static_cast<int>(std::lround(std::log(nanoseconds) / std::log(kStep)))];
  ++step.count;
  step.largest = std::max(step.largest, latency);
  ++count_;
}

Nanoseconds LatencyCounts::quantile(double q) const {
  const auto rank =
      static_cast<std::uint64_t>(std::max(std::ceil(q * static_cast<double>(count_)), 1.0));
  std::uint64_t seen = 0;
  for (const auto& [number, step] : steps_) {
    seen += step.count;
    if (seen >= rank) return step.largest;
  }
  return Nanoseconds(0);
}

void StreamTally::add(const StreamResult& result, bool failed, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!result.sent) {
    ++counts_.not_sent;
    return;
  }
  if (failed) {
    ++counts_.failed;
    return;
  }
  ++counts_.done;
  if (result.sent_again > 0) ++counts_.sent_again;
  shortest_ = counts_.done == 1 ? result.latency : std::min(shortest_, result.latency);
  longest_ = std::max(longest_, result.latency);
  done_.add(result.latency);
  histogram_.record(result.latency);
  if (!first_sent_) first_sent_ = now - result.latency;
  last_done_ = now;
}

void StreamTally::add_not_sent(std::uint64_t requests) {
  const std::lock_guard lock(mutex_);
  counts_.not_sent += requests;
}

StreamTally::Counts StreamTally::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string StreamTally::summary() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      fmt::format("{}, {} failed", counted(counts_.all(), "request"), counts_.failed);
  if (counts_.not_sent > 0) text += fmt::format(", {} not sent", counts_.not_sent);
  if (counts_.done == 0) return text;
  text += "; ";
  const Nanoseconds time = last_done_ - *first_sent_;
  if (counts_.done > 1 && time > Nanoseconds(0)) {
    text += fmt::format("{:.1f}/s, ", static_cast<double>(counts_.done) / to_seconds(time));
  }
  // The middle of a bucket may lie beyond all that was seen.
  const auto ms = [&](double q) {
    return to_milliseconds(std::clamp<Nanoseconds>(done_.quantile(q), shortest_, longest_));
  };
  text += fmt::format("latency {:.2f} ms p50, {:.2f} p95, {:.2f} p99", ms(0.5), ms(0.95), ms(0.99));
  if (counts_.sent_again > 0) {
    text += fmt::format(", {:.2f} the longest, {} sent again", ms(1), counts_.sent_again);
  }
  return text;
}

}  // namespace pareto::load
