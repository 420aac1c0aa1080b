#include "coordinator/profile/device_profiler.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "coordinator/profile/device_links.h"
#include "coordinator/profile/profile_subject.h"
#include "coordinator/results/time_text.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/digest.h"

namespace pareto::profile {
namespace {

/// The time from which on one pass is enough. Each pass has an order of its own; long stages are
/// watched long enough for a moment's disturbance to pass.
constexpr std::chrono::seconds kLongPass{90};
/// The most passes. If what was seen of a cut differs from one time to the next, it comes again, as
/// long as all that has not taken so long.
constexpr int kMostPasses = 8;
constexpr std::chrono::seconds kLongProfile{180};

plan::DeviceProfile blank_profile(const cluster::Cluster& cluster,
                                  const cluster::DaemonClient& device,
                                  const ProfileRequest& request) {
  plan::DeviceProfile profile;
  profile.device = device.config().name;
  profile.cpu = device.info().cpu;
  profile.torch_version = device.info().torch_version;
  profile.model = request.model;
  profile.model_digest = request.model_digest;
  const control::ShardSettings settings = request.settings_of(device);
  profile.engine = settings.engine;
  profile.precision = settings.precision;
  profile.max_error = settings.max_error;
  profile.threads = settings.threads > 0 ? settings.threads : device.info().threads;
  // Its daemon gives no more than the limit, whatever is asked for.
  if (const int most = device.info().limit_cores; most > 0) {
    profile.threads = std::min(profile.threads, most);
  }
  profile.schedule = settings.schedule;
  profile.batch = settings.batch;
  profile.memory_limit_bytes = device.info().memory_limit_bytes;
  profile.machine_shared_by = cluster.machine_shared_by(device);
  profile.runs_on = device.info().device;
  profile.cores = device.info().cores;
  return profile;
}

/// Returns whether a shard was measured, or is known to be too large.
bool was_tried(const plan::DeviceProfile& profile, const plan::OperatorRange& range) {
  return profile.find_shard(range.begin, range.end) != nullptr ||
         std::ranges::find(profile.too_large, range) != profile.too_large.end();
}

bool knows(const plan::DeviceProfile& profile, std::int64_t cut, std::int64_t operators) {
  return was_tried(profile, {0, cut}) && was_tried(profile, {cut, operators});
}

/// Returns the longest shard of `profile` that `known` has too; no value if they have nothing in
/// common.
std::optional<plan::ShardTime> common_shard(const plan::DeviceProfile& known,
                                            const plan::DeviceProfile& profile) {
  std::optional<plan::ShardTime> longest;
  for (const plan::ShardTime& shard : profile.shards) {
    if (known.find_shard(shard.begin, shard.end) == nullptr) continue;
    if (!longest || shard.end - shard.begin > longest->end - longest->begin) longest = shard;
  }
  return longest;
}

/// Keeps what `known` says of shards that were not measured now, in proportion to one that was
/// measured both times.
void merge(const plan::DeviceProfile& known, plan::DeviceProfile& profile) {
  const std::optional<plan::ShardTime> now = common_shard(known, profile);
  const auto scaled = [&](const plan::ShardTime& shard, Nanoseconds plan::ShardTime::*time) {
    if (!now) return shard.*time;
    const plan::ShardTime& before = *known.find_shard(now->begin, now->end);
    return from_nanoseconds(to_nanoseconds(shard.*time) * to_nanoseconds((*now).*time) /
                            std::max(to_nanoseconds(before.*time), 1.0));
  };
  for (plan::ShardTime shard : known.shards) {
    if (was_tried(profile, {shard.begin, shard.end})) continue;
    shard.alone = scaled(shard, &plan::ShardTime::alone);
    shard.busy = scaled(shard, &plan::ShardTime::busy);
    profile.shards.push_back(shard);
  }
}

bool is_settled(const std::vector<ProfileSubject>& subjects, std::int64_t cut) {
  return std::ranges::all_of(
      subjects, [cut](const ProfileSubject& subject) { return subject.is_settled(cut); });
}

/// Measures each device's first side of the cut in turn with the second of the next device: as many
/// pipelines as devices.
Expected<> lone_pairs(std::vector<ProfileSubject>& subjects, std::int64_t cut) {
  for (ProfileSubject& subject : subjects) PARETO_TRY(subject.take_up(cut));
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    PARETO_TRY(ProfileSubject::lone_pair(subjects[i], subjects[(i + 1) % subjects.size()]));
  }
  return {};
}

/// Measures with all devices at work at once, turn by turn: a device that has to load something for
/// it has done so before.
Expected<> busy_together(std::vector<ProfileSubject>& subjects) {
  Nanoseconds duration{};
  for (const ProfileSubject& subject : subjects) {
    duration = std::max(duration, subject.busy_time());
  }
  for (int turn = 0; turn < ProfileSubject::kTurns; ++turn) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      PARETO_TRY(subjects[i].get_ready(turn, i % 2 == 1));
    }
    std::vector<Expected<>> results(subjects.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < subjects.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = subjects[i].busy(duration); });
      }
    }
    for (Expected<>& result : results) PARETO_TRY(std::move(result));
  }
  for (ProfileSubject& subject : subjects) subject.close_sides();
  return {};
}

/// Visits the cuts pass by pass, in an order of its own each. `stop` before the first is over
/// leaves nothing that is of use.
Expected<> visit_all(std::vector<ProfileSubject>& subjects, const std::vector<std::int64_t>& cuts,
                     std::uint64_t seed, const std::atomic<bool>& stop,
                     const std::function<void(const ProfileProgress&)>& progress) {
  statistics::Random random(seed);
  const TimePoint began = std::chrono::steady_clock::now();
  const auto took_long = [&](std::chrono::seconds limit) {
    return std::chrono::steady_clock::now() - began > limit;
  };
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const bool again = pass >= kProfilePasses;
    std::vector<std::int64_t> left;
    for (const std::size_t index : random.permutation(cuts.size())) {
      if (!again || !is_settled(subjects, cuts[index])) left.push_back(cuts[index]);
    }
    ProfileProgress at{.total = left.size(), .pass = pass + 1, .again = again};
    if (!left.empty()) progress(at);
    for (const std::int64_t cut : left) {
      if (stop && pass == 0) {
        return fail(ErrorCode::kClosed, "stopped before each cut had been measured");
      }
      if (stop || (again && took_long(kLongProfile))) return {};
      PARETO_TRY(lone_pairs(subjects, cut));
      PARETO_TRY(busy_together(subjects));
      ++at.done;
      progress(at);
    }
    if (pass == 0 && took_long(kLongPass)) break;
  }
  return {};
}

/// Returns "2 threads, engine plain, bf16, schedule mixed".
std::string text_of(const plan::StageSettings& settings) {
  std::string text;
  if (settings.threads > 0) {
    text += fmt::format("{} {}, ", settings.threads, settings.threads == 1 ? "thread" : "threads");
  }
  if (settings.engine != "auto") text += fmt::format("engine {}, ", settings.engine);
  text += settings.precision;
  if (settings.max_error > 0 && settings.precision != "fp32") {
    text += fmt::format(" off by at most {:.3g} %", 100 * settings.max_error);
  }
  if (settings.schedule != plan::kSequential) {
    text += ", schedule " + plan::schedule_title(settings.schedule);
  }
  return text;
}

}  // namespace

control::ShardSettings ProfileRequest::settings_of(const cluster::DaemonClient& device) const {
  const auto own = own_settings.find(device.config().name);
  if (own == own_settings.end()) return settings;
  return {own->second, settings.batch, settings.device};
}

std::string settings_text(const control::ShardSettings& settings, const DeviceSettings& own) {
  std::string text = fmt::format("batch {}, {}", settings.batch, text_of(settings));
  for (const auto& [device, others] : own) {
    text += fmt::format("; {}: {}", device, text_of(others));
  }
  return text;
}

std::string profile_key(const plan::DeviceProfile& profile) {
  // The first number is that of the way in which profiles are measured.
  std::string key =
      fmt::format("8|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", profile.device, profile.cpu,
                  profile.torch_version, profile.model_digest, profile.engine, profile.precision,
                  profile.threads, profile.batch, profile.memory_limit_bytes,
                  profile.machine_shared_by, profile.runs_on, profile.cores, profile.max_error);
  if (profile.schedule == plan::kSequential) return key;
  return key + "|" +
         (plan::is_program(profile.schedule) ? sha256(profile.schedule).hex() : profile.schedule);
}

std::string profile_key(const cluster::Cluster& cluster, const cluster::DaemonClient& device,
                        const ProfileRequest& request) {
  return profile_key(blank_profile(cluster, device, request));
}

bool is_enough(const plan::DeviceProfile& profile, const ProfileRequest& request) {
  return profile.operators.size() == static_cast<std::size_t>(request.operators) &&
         std::ranges::all_of(request.cuts, [&](std::int64_t cut) {
           return knows(profile, cut, request.operators);
         });
}

Expected<std::vector<plan::DeviceProfile>> profile_devices(
    const ProfileBench& bench, const ProfileRequest& request,
    const std::vector<std::optional<plan::DeviceProfile>>& known, const std::atomic<bool>& stop,
    const std::function<void(const ProfileProgress&)>& progress) {
  // Whatever one device lacks is measured on all: they have to be at work in any case.
  std::vector<std::int64_t> cuts;
  std::ranges::copy_if(request.cuts, std::back_inserter(cuts), [&](std::int64_t cut) {
    return std::ranges::any_of(known, [&](const auto& profile) {
      return !profile || !knows(*profile, cut, request.operators);
    });
  });
  std::vector<ProfileSubject> subjects;
  for (std::size_t i = 0; i < bench.cluster.size(); ++i) {
    if (stop) return fail(ErrorCode::kClosed, "stopped before every device was timed");
    cluster::DaemonClient& device = bench.cluster.device(i);
    PARETO_ASSIGN(DeviceLinks links,
                  DeviceLinks::find(bench.probed, device, i, bench.cluster.size()));
    subjects.emplace_back(bench, request, device, std::move(links));
    PARETO_TRY(with_context(subjects.back().begin(known[i]), "profiling"));
  }
  PARETO_TRY(with_context(visit_all(subjects, cuts, request.seed, stop, progress), "profiling"));
  std::vector<plan::DeviceProfile> profiles;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    plan::DeviceProfile& profile =
        profiles.emplace_back(blank_profile(bench.cluster, bench.cluster.device(i), request));
    profile.measured = results::time_text(std::chrono::system_clock::now());
    subjects[i].fill(profile);
    if (known[i]) merge(*known[i], profile);
    std::ranges::sort(profile.shards, {}, [](const plan::ShardTime& shard) {
      return std::pair(shard.begin, shard.end);
    });
  }
  return profiles;
}

}  // namespace pareto::profile
