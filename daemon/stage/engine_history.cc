#include "daemon/stage/engine_history.h"

#include <algorithm>
#include <utility>

namespace pareto::daemon {
namespace {

constexpr double kHopeless = 1.1;
constexpr int kFewestContests = 4;
/// Smallest share of common operators that makes two shards alike.
constexpr double kInCommon = 2.0 / 3;
constexpr double kAboutAsLong = 2;
/// Most pairs of model and settings that are remembered.
constexpr std::size_t kMostKeys = 64;

bool is_like(std::int64_t begin, std::int64_t end, const plan::Shard& shard) {
  const auto both = static_cast<double>(std::min(end, shard.end) - std::max(begin, shard.begin));
  const auto either = static_cast<double>(std::max(end, shard.end) - std::min(begin, shard.begin));
  return both >= kInCommon * either;
}

bool about_as_long(Nanoseconds one, Nanoseconds other) {
  const auto [less, more] = std::minmax(one, other);
  return to_nanoseconds(more) <= kAboutAsLong * to_nanoseconds(less);
}

}  // namespace

std::string EngineHistory::key_of(const plan::Shard& shard, const runtime::RunnerOptions& options) {
  return fmt::format("{} {} {} {} {} {}", shard.model, runtime::to_string(options.precision),
                     options.threads, options.device, options.batch, options.max_error);
}

void EngineHistory::add(const plan::Shard& shard, const runtime::RunnerOptions& options,
                        const runtime::LoadReport& report) {
  // Only one engine was asked for.
  if (report.timings.size() < 2) return;
  const auto kept = std::ranges::find_if(report.timings, [&](const runtime::EngineTiming& timing) {
    return timing.engine == report.engine && timing.precision == report.precision;
  });
  if (kept == report.timings.end()) return;
  Contest contest{shard.begin, shard.end, report.timings.front().best, {}};
  for (const runtime::EngineTiming& timing : report.timings) {
    contest.hopeless[{timing.engine, timing.precision}] =
        !timing.failure.empty() ||
        to_nanoseconds(timing.best) > kHopeless * to_nanoseconds(kept->best);
  }
  const std::lock_guard lock(mutex_);
  const std::string key = key_of(shard, options);
  if (contests_.size() >= kMostKeys && !contests_.contains(key)) contests_.clear();
  std::deque<Contest>& contests = contests_[key];
  if (contests.size() >= kMostContests) contests.pop_front();
  contests.push_back(std::move(contest));
}

bool EngineHistory::is_hopeless(const plan::Shard& shard, const runtime::RunnerOptions& options,
                                const std::string& engine, runtime::Precision precision,
                                Nanoseconds plain) const {
  const std::lock_guard lock(mutex_);
  const auto contests = contests_.find(key_of(shard, options));
  if (contests == contests_.end()) return false;
  int lost = 0;
  for (const Contest& contest : contests->second) {
    if (!is_like(contest.begin, contest.end, shard) || !about_as_long(contest.plain, plain)) {
      continue;
    }
    const auto tried = contest.hopeless.find({engine, precision});
    if (tried == contest.hopeless.end()) continue;
    if (!tried->second) return false;
    ++lost;
  }
  return lost >= kFewestContests;
}

}  // namespace pareto::daemon
