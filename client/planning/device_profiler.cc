#include "client/planning/device_profiler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "client/experiment/statistics.h"
#include "client/experiment/time_text.h"
#include "client/planning/device_links.h"
#include "client/planning/stage_meter.h"

namespace pareto::client {
namespace {

constexpr int kOperatorRepeats = 5;
/// Times that each cut comes, in an order of their own.
constexpr int kPasses = 2;
constexpr int kLoneRequests = 5;
/// A busy stage is watched for so many of the whole model's times.
constexpr int kBusyWholes = 6;
/// A device that does all alone is watched under load before every so many cuts: it has its machine to itself.
constexpr int kCutsAWhole = 6;

using Range = std::pair<std::int64_t, std::int64_t>;  ///< operators [first, second)

Nanoseconds rounded(double nanoseconds) {
  return Nanoseconds(std::llround(std::max(nanoseconds, 0.0)));
}
double count_of(Nanoseconds time) { return static_cast<double>(time.count()); }

/// What was seen of one shard, once a pass.
struct Seen {
  std::vector<double> alone;   ///< share of the whole model's time
  std::vector<double> busy;    ///< the same
  std::vector<double> beyond;  ///< ns
  StageTraffic traffic;
  std::uint64_t memory_bytes = 0;
};

/// One device being measured. Threads: one at a time.
class Subject {
 public:
  Subject(const ProfileBench& bench, const ProfileWish& wish, DaemonClient& device,
          DeviceLinks links)
      : bench_(bench), wish_(wish), device_(device), links_(std::move(links)) {}

  Expected<> begin() {
    PARETO_ASSIGN(whole_, open(0, wish_.operators));
    PARETO_ASSIGN(
        const ShardTimes times,
        device_.profile(whole_->shard().loaded.handle, wish_.settings.batch, 0, kOperatorRepeats));
    operators_.resize(static_cast<std::size_t>(wish_.operators));
    for (const auto& [position, time] : times.operators) {
      if (position < 0 || position >= wish_.operators) {
        return fail(ErrorCode::kCorrupt, "{} timed operator {} of {}", device_.config().name,
                    position, wish_.operators);
      }
      operators_[static_cast<std::size_t>(position)] = time;
    }
    // The first requests find everything cold.
    PARETO_TRY(whole_->lone(bench_.request, kLoneRequests));
    return lone_whole();
  }

  /// The two sides of a cut, one at a time, and the whole model.
  Expected<> lone(std::int64_t cut) {
    if (cuts_++ % kCutsAWhole == 0) {
      PARETO_ASSIGN(const BusyTimes whole, whole_->busy(bench_.request, kBusyWholes * last_whole_));
      unshared_whole_.push_back(count_of(whole.interval));
    }
    PARETO_TRY(lone_whole());
    PARETO_ASSIGN(before_, open(0, cut));
    PARETO_ASSIGN(after_, open(cut, wish_.operators));
    PARETO_TRY(lone_shard(*before_, bench_.request));
    crossing_ = before_->output();
    return lone_shard(*after_, crossing_);
  }

  /// The same under load, for so long each. Pipelines have the first stage on one device and the second on the other: `turned` begins with
  /// the one after the cut.
  Expected<> busy(Nanoseconds duration, bool turned) {
    PARETO_ASSIGN(const BusyTimes whole, whole_->busy(bench_.request, duration));
    if (whole.compute.count() <= 0) return no_time();
    busy_whole_.push_back(count_of(whole.interval));
    PARETO_TRY(busy_shard(turned ? *after_ : *before_, turned ? crossing_ : bench_.request, whole,
                          duration));
    PARETO_TRY(busy_shard(turned ? *before_ : *after_, turned ? bench_.request : crossing_, whole,
                          duration));
    before_.reset();
    after_.reset();
    return {};
  }

  Nanoseconds last_whole() const { return last_whole_; }

  void fill(DeviceProfile& profile) const {
    profile.operators = operators_;
    const double alone = median(lone_whole_);
    // Without a cut there was nothing to be busy with.
    const double unshared = unshared_whole_.empty() ? alone : median(unshared_whole_);
    const double busy = busy_whole_.empty() ? alone : median(busy_whole_);
    std::vector<double> overheads;
    for (const auto& [range, seen] : seen_) {
      for (const double beyond : seen.beyond) {
        overheads.push_back(beyond - count_of(links_.crossing(seen.traffic)));
      }
      const bool whole = range == Range(0, wish_.operators);
      ShardTime& shard = profile.shards.emplace_back();
      shard.begin = range.first;
      shard.end = range.second;
      shard.alone = rounded(whole ? alone : median(seen.alone) * alone);
      shard.busy = rounded((whole ? unshared : median(seen.busy) * busy) -
                           count_of(links_.processor(seen.traffic)));
      shard.memory_bytes = seen.memory_bytes;
    }
    profile.overhead = rounded(median(overheads));
  }

 private:
  Expected<std::unique_ptr<StageMeter>> open(std::int64_t begin, std::int64_t end) {
    PARETO_ASSIGN(auto meter, StageMeter::open(device_.config().name, begin, end, wish_.settings,
                                               links_.transport(), bench_.cluster, bench_.pool,
                                               bench_.transports));
    Seen& seen = seen_of(*meter);
    seen.traffic = {meter->shard().input_bytes, meter->shard().output_bytes};
    seen.memory_bytes = meter->shard().loaded.memory_bytes;
    return meter;
  }

  Seen& seen_of(const StageMeter& meter) { return seen_[{meter.shard().begin, meter.shard().end}]; }

  Expected<> lone_whole() {
    PARETO_ASSIGN(const LoneTimes times, whole_->lone(bench_.request, kLoneRequests));
    if (times.compute.count() <= 0) return no_time();
    last_whole_ = times.compute;
    lone_whole_.push_back(count_of(times.compute));
    seen_of(*whole_).beyond.push_back(count_of(times.beyond));
    return {};
  }

  Expected<> lone_shard(StageMeter& meter, const Value& request) {
    PARETO_ASSIGN(const LoneTimes times, meter.lone(request, kLoneRequests));
    Seen& seen = seen_of(meter);
    seen.alone.push_back(count_of(times.compute) / count_of(last_whole_));
    seen.beyond.push_back(count_of(times.beyond));
    return {};
  }

  Expected<> busy_shard(StageMeter& meter, const Value& request, const BusyTimes& whole,
                        Nanoseconds duration) {
    PARETO_ASSIGN(const BusyTimes times, meter.busy(request, duration));
    seen_of(meter).busy.push_back(count_of(times.compute) / count_of(whole.compute));
    return {};
  }

  Expected<> no_time() const {
    return fail(ErrorCode::kCorrupt, "{} ran a shard in no time", device_.config().name);
  }

  const ProfileBench& bench_;
  const ProfileWish& wish_;
  DaemonClient& device_;
  const DeviceLinks links_;
  std::vector<Nanoseconds> operators_;
  std::unique_ptr<StageMeter> whole_;
  std::unique_ptr<StageMeter> before_;
  std::unique_ptr<StageMeter> after_;
  Value crossing_;  ///< what the one sends to the other
  Nanoseconds last_whole_{};
  int cuts_ = 0;
  std::vector<double> lone_whole_;
  std::vector<double> unshared_whole_;
  std::vector<double> busy_whole_;
  std::map<Range, Seen> seen_;
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

const ShardTime* find_shard(const DeviceProfile& profile, std::int64_t begin, std::int64_t end) {
  const auto found = std::ranges::find_if(profile.shards, [&](const ShardTime& shard) {
    return shard.begin == begin && shard.end == end;
  });
  return found == profile.shards.end() ? nullptr : &*found;
}

bool knows(const DeviceProfile& profile, std::int64_t cut, std::int64_t operators) {
  return find_shard(profile, 0, cut) != nullptr && find_shard(profile, cut, operators) != nullptr;
}

/// What `known` says of shards that were not measured now is kept, in proportion to the whole model as it is now.
void merge(const DeviceProfile& known, DeviceProfile& profile, std::int64_t operators) {
  const ShardTime* const before = find_shard(known, 0, operators);
  const ShardTime now = *find_shard(profile, 0, operators);
  const auto scaled = [](Nanoseconds time, Nanoseconds from, Nanoseconds to) {
    return rounded(count_of(time) * count_of(to) / std::max(count_of(from), 1.0));
  };
  for (ShardTime shard : known.shards) {
    if (find_shard(profile, shard.begin, shard.end) != nullptr) continue;
    shard.alone = scaled(shard.alone, before->alone, now.alone);
    shard.busy = scaled(shard.busy, before->busy, now.busy);
    profile.shards.push_back(shard);
  }
}

/// All devices at work at once.
Expected<> busy_together(std::vector<Subject>& subjects) {
  Nanoseconds duration{};
  for (const Subject& subject : subjects) {
    duration = std::max(duration, kBusyWholes * subject.last_whole());
  }
  std::vector<Expected<>> results(subjects.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = subjects[i].busy(duration, i % 2 == 1); });
    }
  }
  for (Expected<>& result : results) PARETO_TRY(std::move(result));
  return {};
}

}  // namespace

std::string profile_key(const DeviceProfile& profile) {
  // The first number is that of the way in which profiles are measured.
  return fmt::format("2|{}|{}|{}|{}|{}|{}|{}|{}", profile.device, profile.cpu,
                     profile.torch_version, profile.model_digest, profile.engine, profile.precision,
                     profile.threads, profile.batch);
}

std::string profile_key(const DaemonClient& device, const ProfileWish& wish) {
  return profile_key(blank_profile(device, wish));
}

bool is_enough(const DeviceProfile& profile, const ProfileWish& wish) {
  return profile.operators.size() == static_cast<std::size_t>(wish.operators) &&
         std::ranges::all_of(wish.cuts,
                             [&](std::int64_t cut) { return knows(profile, cut, wish.operators); });
}

Expected<std::vector<DeviceProfile>> profile_devices(
    const ProfileBench& bench, const ProfileWish& wish,
    const std::vector<std::optional<DeviceProfile>>& known, const std::atomic<bool>& stop,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  // Whatever one device lacks is measured on all: they have to be at work in any case.
  std::vector<std::int64_t> cuts;
  std::ranges::copy_if(wish.cuts, std::back_inserter(cuts), [&](std::int64_t cut) {
    return std::ranges::any_of(known, [&](const auto& profile) {
      return !profile || !knows(*profile, cut, wish.operators);
    });
  });
  std::vector<Subject> subjects;
  for (std::size_t i = 0; i < bench.cluster.size(); ++i) {
    DaemonClient& device = bench.cluster.device(i);
    PARETO_ASSIGN(DeviceLinks links,
                  DeviceLinks::find(bench.probed, device, i, bench.cluster.size()));
    subjects.emplace_back(bench, wish, device, std::move(links));
    PARETO_TRY(with_context(subjects.back().begin(), "profiling"));
  }
  Random random(wish.seed);
  std::size_t done = 0;
  const std::size_t total = kPasses * cuts.size();
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const std::size_t index : random.permutation(cuts.size())) {
      if (stop && pass > 0) break;
      if (stop) return fail(ErrorCode::kClosed, "stopped before each cut had been measured");
      for (Subject& subject : subjects) {
        PARETO_TRY(with_context(subject.lone(cuts[index]), "profiling"));
      }
      PARETO_TRY(with_context(busy_together(subjects), "profiling"));
      progress(++done, total);
    }
  }
  std::vector<DeviceProfile> profiles;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    DeviceProfile& profile = profiles.emplace_back(blank_profile(bench.cluster.device(i), wish));
    profile.measured = time_text(std::chrono::system_clock::now());
    subjects[i].fill(profile);
    if (known[i]) merge(*known[i], profile, wish.operators);
    std::ranges::sort(profile.shards, {},
                      [](const ShardTime& shard) { return std::pair(shard.begin, shard.end); });
  }
  return profiles;
}

}  // namespace pareto::client
