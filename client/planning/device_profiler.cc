#include "client/planning/device_profiler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "client/experiment/statistics.h"
#include "client/experiment/time_text.h"

namespace pareto::client {
namespace {

constexpr int kOperatorRepeats = 5;
/// Turns of a shard and the whole model, each of so many runs.
constexpr int kTurns = 5;
constexpr int kRunsATurn = 3;

double median_ms(const std::vector<Nanoseconds>& times) {
  std::vector<double> milliseconds;
  for (const Nanoseconds time : times) milliseconds.push_back(to_milliseconds(time));
  return median(milliseconds);
}

Nanoseconds from_ms(double milliseconds) { return Nanoseconds(std::llround(milliseconds * 1e6)); }

/// One device being measured. Threads: one owner.
class Profiler {
 public:
  Profiler(DaemonClient& device, ShardPool& pool, const ProfileWish& wish)
      : device_(device), pool_(pool), wish_(wish) {}

  Expected<> load_whole() {
    PARETO_ASSIGN(whole_, acquire(0, wish_.operators));
    return {};
  }

  Expected<std::vector<Nanoseconds>> operators() {
    PARETO_ASSIGN(
        const ShardTimes times,
        device_.profile(whole_->loaded.handle, wish_.settings.batch, 0, kOperatorRepeats));
    std::vector<Nanoseconds> operators(static_cast<std::size_t>(wish_.operators));
    for (const auto& [position, time] : times.operators) {
      if (position < 0 || position >= wish_.operators) {
        return fail(ErrorCode::kCorrupt, "{} timed operator {} of {}", device_.config().name,
                    position, wish_.operators);
      }
      operators[static_cast<std::size_t>(position)] = time;
    }
    return operators;
  }

  /// Its share of the whole model's time.
  Expected<ShardTime> measure(std::int64_t begin, std::int64_t end) {
    PARETO_ASSIGN(const ShardLease shard, acquire(begin, end));
    std::vector<double> shares;
    for (int turn = 0; turn < kTurns; ++turn) {
      PARETO_ASSIGN(const double whole, run(*whole_));
      PARETO_ASSIGN(const double part, run(*shard));
      whole_ms_.push_back(whole);
      shares.push_back(part / whole);
    }
    shares_[{begin, end}] = median(shares);
    return ShardTime{begin, end, {}, shard->loaded.memory_bytes};
  }

  /// The whole model's, and those of the shards measured before.
  Expected<Nanoseconds> whole() {
    if (whole_ms_.empty()) {
      for (int turn = 0; turn < kTurns; ++turn) {
        PARETO_ASSIGN(const double time, run(*whole_));
        whole_ms_.push_back(time);
      }
    }
    return from_ms(median(whole_ms_));
  }
  double share_of(const ShardTime& shard) const { return shares_.at({shard.begin, shard.end}); }
  std::uint64_t whole_memory_bytes() const { return whole_->loaded.memory_bytes; }

 private:
  Expected<ShardLease> acquire(std::int64_t begin, std::int64_t end) {
    return with_context(pool_.acquire(device_, begin, end, wish_.settings),
                        "profiling operators {} to {}", begin, end);
  }

  /// In ms.
  Expected<double> run(const ResidentShard& shard) {
    PARETO_ASSIGN(const ShardTimes times,
                  device_.profile(shard.loaded.handle, wish_.settings.batch, kRunsATurn, 0));
    if (times.whole.empty() || median_ms(times.whole) <= 0) {
      return fail(ErrorCode::kCorrupt, "{} ran a shard in no time", device_.config().name);
    }
    return median_ms(times.whole);
  }

  DaemonClient& device_;
  ShardPool& pool_;
  const ProfileWish& wish_;
  ShardLease whole_;
  std::vector<double> whole_ms_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> shares_;
};

DeviceProfile blank_profile(const DaemonClient& device, const ProfileWish& wish) {
  DeviceProfile profile;
  profile.device = device.config().name;
  profile.cpu = device.info().cpu;
  profile.torch_version = device.info().torch_version;
  profile.model = wish.model;
  profile.model_digest = wish.model_digest;
  profile.engine = wish.settings.engine;
  profile.precision = wish.settings.precision;
  profile.threads = wish.settings.threads > 0 ? wish.settings.threads : device.info().threads;
  profile.batch = wish.settings.batch;
  return profile;
}

/// Those of `known` first: what it says of a shard is kept, in proportion to the whole as it is now.
void merge(const DeviceProfile& known, DeviceProfile& profile, Nanoseconds whole_now) {
  const auto whole = std::ranges::find_if(known.shards, [&](const ShardTime& shard) {
    return shard.begin == 0 && shard.end == static_cast<std::int64_t>(known.operators.size());
  });
  const double scale = to_milliseconds(whole_now) / std::max(to_milliseconds(whole->median), 1e-9);
  for (ShardTime shard : known.shards) {
    const bool measured = std::ranges::any_of(profile.shards, [&](const ShardTime& other) {
      return other.begin == shard.begin && other.end == shard.end;
    });
    if (measured) continue;
    shard.median = from_ms(to_milliseconds(shard.median) * scale);
    profile.shards.push_back(shard);
  }
}

}  // namespace

std::string profile_key(const DeviceProfile& profile) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", profile.device, profile.cpu, profile.torch_version,
                     profile.model_digest, profile.engine, profile.precision, profile.threads,
                     profile.batch);
}

std::string profile_key(const DaemonClient& device, const ProfileWish& wish) {
  return profile_key(blank_profile(device, wish));
}

std::vector<std::int64_t> missing_cuts(const DeviceProfile& profile, const ProfileWish& wish) {
  std::vector<std::int64_t> missing;
  for (const std::int64_t cut : wish.cuts) {
    const auto knows = [&](std::int64_t begin, std::int64_t end) {
      return std::ranges::any_of(profile.shards, [&](const ShardTime& shard) {
        return shard.begin == begin && shard.end == end;
      });
    };
    if (!knows(0, cut) || !knows(cut, wish.operators)) missing.push_back(cut);
  }
  return missing;
}

Expected<DeviceProfile> profile_device(
    DaemonClient& device, ShardPool& pool, const ProfileWish& wish, const DeviceProfile* known,
    const std::atomic<bool>& stop, const std::function<void(std::size_t, std::size_t)>& progress) {
  DeviceProfile profile = blank_profile(device, wish);
  profile.measured = time_text(std::chrono::system_clock::now());
  Profiler profiler(device, pool, wish);
  PARETO_TRY(profiler.load_whole());
  PARETO_ASSIGN(profile.operators, profiler.operators());
  const std::vector<std::int64_t> cuts = known != nullptr ? missing_cuts(*known, wish) : wish.cuts;
  Random random(wish.seed);
  std::size_t done = 0;
  for (const std::size_t index : random.permutation(cuts.size())) {
    if (stop) break;
    for (const auto& [begin, end] :
         {std::pair{std::int64_t{0}, cuts[index]}, std::pair{cuts[index], wish.operators}}) {
      PARETO_ASSIGN(ShardTime shard, profiler.measure(begin, end));
      profile.shards.push_back(shard);
    }
    progress(++done, cuts.size());
  }
  PARETO_ASSIGN(const Nanoseconds whole, profiler.whole());
  for (ShardTime& shard : profile.shards) {
    shard.median = from_ms(to_milliseconds(whole) * profiler.share_of(shard));
  }
  profile.shards.push_back({0, wish.operators, whole, profiler.whole_memory_bytes()});
  if (known != nullptr) merge(*known, profile, whole);
  std::ranges::sort(profile.shards, {},
                    [](const ShardTime& shard) { return std::pair(shard.begin, shard.end); });
  return profile;
}

}  // namespace pareto::client
