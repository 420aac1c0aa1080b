#include "core/plan/device_profile.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/plan/bounded_json.h"
#include "core/plan/schedule_json.h"

namespace pareto::plan {
namespace {

constexpr int kProfileFormat = 3;
constexpr std::size_t kMaxProfiledOperators = 1 << 20;
constexpr std::size_t kMaxShards = 1 << 20;
constexpr Nanoseconds kLongest = std::chrono::hours(1);
constexpr double kLargestFactor = 1e9;

bool is_time(Nanoseconds time) { return time.count() >= 0 && time <= kLongest; }

constexpr auto kEnds = [](const auto& range) { return std::pair(range.begin, range.end); };

/// Returns whether the ranges ascend by begin, then end, none twice.
template <typename Range>
bool ascends(const std::vector<Range>& ranges) {
  return std::ranges::adjacent_find(ranges, std::ranges::greater_equal{}, kEnds) == ranges.end();
}

Expected<> check_range(std::int64_t begin, std::int64_t end, std::int64_t count) {
  if (0 <= begin && begin < end && end <= count) return {};
  return fail(ErrorCode::kInvalidArgument, "of operators {} to {} of {}", begin, end, count);
}

Expected<> check(const DeviceProfile& profile) {
  const auto refuse = [](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument, "profile: {}", what);
  };
  if (profile.device.empty() || profile.model.empty())
    return refuse("a device and a model are named");
  if (profile.batch < 1 || profile.threads < 0 || profile.threads > 256) {
    return refuse("batch 1 or more, 0 to 256 threads");
  }
  const auto count = static_cast<std::int64_t>(profile.operators.size());
  if (count == 0 || profile.operators.size() > kMaxProfiledOperators ||
      profile.shards.size() > kMaxShards || profile.too_large.size() > kMaxShards) {
    return refuse("1 to 1048576 operators and as many shards");
  }
  if (!is_time(profile.overhead) || !std::ranges::all_of(profile.operators, is_time)) {
    return refuse("a time is negative or longer than an hour");
  }
  const auto is_factor = [](double factor) { return factor > 0 && factor <= kLargestFactor; };
  if (profile.jitter.size() > kMostJitterFactors ||
      !std::ranges::all_of(profile.jitter, is_factor)) {
    return refuse("jitter is at most 64 factors above 0, up to a billion");
  }
  if (profile.cores < 0 || !(profile.max_error >= 0)) {
    return refuse("cores and max_error are 0 or more");
  }
  if (profile.others_share && !(*profile.others_share >= 0 && *profile.others_share <= 1)) {
    return refuse("others_share is 0 to 1");
  }
  if (!ascends(profile.shards) || !ascends(profile.too_large)) {
    return refuse("shards are not in order");
  }
  bool is_end = false;
  for (const ShardTime& shard : profile.shards) {
    PARETO_TRY(with_context(check_range(shard.begin, shard.end, count), "profile: a shard"));
    if (!is_time(shard.alone) || !is_time(shard.busy)) {
      return refuse("a shard's time is negative or longer than an hour");
    }
    is_end = is_end || shard.begin == 0 || shard.end == count;
  }
  for (const OperatorRange& range : profile.too_large) {
    PARETO_TRY(with_context(check_range(range.begin, range.end, count), "profile: too large"));
    if (std::ranges::binary_search(profile.shards, kEnds(range), {}, kEnds)) {
      return refuse("a shard that was measured is called too large");
    }
  }
  return is_end ? Expected<>() : refuse("no shard begins or ends the model");
}

}  // namespace

const ShardTime* DeviceProfile::find_shard(std::int64_t begin, std::int64_t end) const {
  const auto found = std::ranges::find_if(
      shards, [&](const ShardTime& shard) { return shard.begin == begin && shard.end == end; });
  return found == shards.end() ? nullptr : &*found;
}

const OperatorRange* DeviceProfile::no_room_for(std::int64_t begin, std::int64_t end) const {
  const auto found = std::ranges::find_if(too_large, [&](const OperatorRange& range) {
    return begin <= range.begin && range.end <= end;
  });
  return found == too_large.end() ? nullptr : &*found;
}

std::string to_json(const DeviceProfile& profile) {
  nlohmann::ordered_json json{{"format", kProfileFormat},
                              {"device", profile.device},
                              {"cpu", profile.cpu},
                              {"torch", profile.torch_version},
                              {"model", profile.model},
                              {"digest", profile.model_digest},
                              {"engine", profile.engine},
                              {"precision", profile.precision},
                              {"threads", profile.threads},
                              {"batch", profile.batch},
                              {"memory_limit_bytes", profile.memory_limit_bytes},
                              {"machine_shared_by", profile.machine_shared_by},
                              {"measured", profile.measured},
                              {"overhead_ns", profile.overhead.count()},
                              {"operators_ns", nlohmann::ordered_json::array()},
                              {"shards", nlohmann::ordered_json::array()},
                              {"too_large", nlohmann::ordered_json::array()},
                              {"jitter", profile.jitter}};
  if (!profile.runs_on.empty()) json["runs_on"] = profile.runs_on;
  if (profile.cores > 0) json["cores"] = profile.cores;
  if (profile.max_error > 0) json["max_error"] = profile.max_error;
  if (profile.schedule != kSequential) json["schedule"] = schedule_json(profile.schedule);
  if (profile.others_share) json["others_share"] = *profile.others_share;
  for (const Nanoseconds time : profile.operators) json["operators_ns"].push_back(time.count());
  for (const ShardTime& shard : profile.shards) {
    json["shards"].push_back({{"begin", shard.begin},
                              {"end", shard.end},
                              {"alone_ns", shard.alone.count()},
                              {"busy_ns", shard.busy.count()},
                              {"memory_bytes", shard.memory_bytes}});
    if (shard.output_bytes > 0) json["shards"].back()["output_bytes"] = shard.output_bytes;
  }
  for (const OperatorRange& range : profile.too_large) {
    json["too_large"].push_back({range.begin, range.end});
  }
  return dump(json);
}

Expected<DeviceProfile> device_profile_from_json(const std::string& text) {
  try {
    PARETO_ASSIGN(const auto json,
                  with_context(parse_bounded<nlohmann::json>(text), "device profile"));
    if (json_integer_at<int>(json, "format") != kProfileFormat) {
      return fail(ErrorCode::kInvalidArgument, "profile: format {}, not {}",
                  json_integer_at<int>(json, "format"), kProfileFormat);
    }
    DeviceProfile profile;
    profile.device = json.at("device").get<std::string>();
    profile.cpu = json.at("cpu").get<std::string>();
    profile.torch_version = json.at("torch").get<std::string>();
    profile.model = json.at("model").get<std::string>();
    profile.model_digest = json.at("digest").get<std::string>();
    profile.engine = json.at("engine").get<std::string>();
    profile.precision = json.at("precision").get<std::string>();
    profile.threads = json_integer_at<int>(json, "threads");
    profile.batch = json_integer_at<std::int64_t>(json, "batch");
    profile.memory_limit_bytes = json_integer_at<std::uint64_t>(json, "memory_limit_bytes");
    profile.machine_shared_by = json_integer_at<int>(json, "machine_shared_by", 1);
    profile.measured = json.at("measured").get<std::string>();
    profile.overhead = Nanoseconds(json_integer_at<std::int64_t>(json, "overhead_ns"));
    for (const auto& time : json.at("operators_ns")) {
      profile.operators.emplace_back(json_integer<std::int64_t>(time, "each of \"operators_ns\""));
    }
    for (const auto& shard : json.at("shards")) {
      profile.shards.push_back({json_integer_at<std::int64_t>(shard, "begin"),
                                json_integer_at<std::int64_t>(shard, "end"),
                                Nanoseconds(json_integer_at<std::int64_t>(shard, "alone_ns")),
                                Nanoseconds(json_integer_at<std::int64_t>(shard, "busy_ns")),
                                json_integer_at<std::uint64_t>(shard, "memory_bytes"),
                                json_integer_at<std::uint64_t>(shard, "output_bytes", 0)});
    }
    for (const auto& range : json.at("too_large")) {
      profile.too_large.push_back(
          {json_integer<std::int64_t>(range.at(0)), json_integer<std::int64_t>(range.at(1))});
    }
    // Profiles that are older than these have none.
    profile.jitter = json.value("jitter", std::vector<double>());
    profile.runs_on = json.value("runs_on", "");
    profile.cores = json_integer_at<int>(json, "cores", 0);
    profile.max_error = json.value("max_error", 0.0);
    if (const auto schedule = json.find("schedule"); schedule != json.end()) {
      PARETO_ASSIGN(profile.schedule, with_context(schedule_from(*schedule), "profile: schedule"));
    }
    if (const auto share = json.find("others_share"); share != json.end()) {
      profile.others_share = share->get<double>();
    }
    PARETO_TRY(check(profile));
    return profile;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "profile: {}", json_reason(error));
  }
}

}  // namespace pareto::plan
