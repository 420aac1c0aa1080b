#include "netem/fault_plan.h"

#include <algorithm>
#include <array>
#include <random>

#include "core/base/config_reader.h"
#include "core/base/text.h"

namespace pareto::netem {
namespace {

enum class Lasting { kNever, kMay, kMust };

struct KindRow {
  FaultKind kind;
  std::string_view name;
  bool of_device;
  Lasting lasting;
  std::uint64_t packets;  ///< number of packets that are hit if the file says none; 0: all
};

constexpr std::array kKinds{
    KindRow{FaultKind::kKill, "kill", true, Lasting::kMay, 0},
    KindRow{FaultKind::kStop, "stop", true, Lasting::kMust, 0},
    KindRow{FaultKind::kRestart, "restart", true, Lasting::kNever, 0},
    KindRow{FaultKind::kDiskFull, "disk-full", true, Lasting::kMust, 0},
    KindRow{FaultKind::kPartition, "partition", false, Lasting::kMust, 0},
    KindRow{FaultKind::kDrop, "drop", false, Lasting::kMust, 0},
    KindRow{FaultKind::kDelay, "delay", false, Lasting::kMust, 0},
    KindRow{FaultKind::kDuplicate, "duplicate", false, Lasting::kMust, 0},
    KindRow{FaultKind::kReorder, "reorder", false, Lasting::kMust, 0},
    KindRow{FaultKind::kCorrupt, "corrupt", false, Lasting::kMust, 0},
    KindRow{FaultKind::kRepeatBytes, "repeat-bytes", false, Lasting::kMust, 0},
    KindRow{FaultKind::kSwapBytes, "swap-bytes", false, Lasting::kMust, 0},
    KindRow{FaultKind::kTruncate, "truncate", false, Lasting::kMust, 1},
    KindRow{FaultKind::kHalfClose, "half-close", false, Lasting::kMust, 1},
};
constexpr std::array<std::string_view, 4> kDirections{"both", "forward", "backward", "any"};

constexpr Nanoseconds kShortestPeriod = std::chrono::milliseconds(1);
constexpr int kMostPackets = 1'000'000'000;

const KindRow& row_of(FaultKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) names.emplace_back(row.name);
  return names;
}

/// Reads a time of at most FaultPlan::kLongest.
void read_time(ConfigSection& entry, const std::string& key, Nanoseconds& time) {
  entry.optional_duration(key, time);
  if (time.count() < 0 || time > FaultPlan::kLongest) entry.problem(key, "is not 0 to 24 hours");
}

void read_repetition(ConfigSection& entry, PlannedFault& planned) {
  entry.optional("times", planned.times);
  if (planned.times < 1 || planned.times > FaultPlan::kMostTimes) {
    entry.problem("times", fmt::format("is not 1 to {}", FaultPlan::kMostTimes));
    planned.times = 1;
  }
  read_time(entry, "every", planned.every);
  if (planned.times > 1 && planned.every < kShortestPeriod) {
    entry.problem("every", "is the time between one and the next, at least 1ms, and is missing");
  } else if (planned.times == 1 && entry.has("every")) {
    entry.problem("times", "is missing: how often?");
  }
}

void read_lasting(ConfigSection& entry, const KindRow& row, PlannedFault& planned) {
  if (entry.has("for")) {
    Nanoseconds lasts{};
    read_time(entry, "for", lasts);
    if (lasts < kShortestPeriod) entry.problem("for", "is less than 1ms");
    planned.lasts = lasts;
    if (row.lasting == Lasting::kNever) {
      entry.problem("for", fmt::format("{} is done at once, and lasts no time", row.name));
    }
  } else if (row.lasting == Lasting::kMust) {
    entry.problem("for", fmt::format("is missing: how long does {} last?", row.name));
  }
}

void read_link_keys(ConfigSection& entry, const KindRow& row, Fault& fault) {
  std::string direction{to_string(FaultDirection::kBoth)};
  entry.optional("direction", direction);
  if (const auto parsed = parse_fault_direction(direction)) {
    fault.direction = *parsed;
  } else {
    entry.problem("direction", parsed.error().message);
  }
  fault.packets = row.packets;
  if (fault.kind == FaultKind::kPartition) return;
  entry.optional_share("share", fault.share);
  if (fault.share <= 0) entry.problem("share", "is 0: nothing would be hit");
  if (entry.has("packets")) {
    int packets = 0;
    entry.optional("packets", packets);
    if (packets < 1 || packets > kMostPackets) {
      entry.problem("packets", fmt::format("is not 1 to {}", kMostPackets));
    } else {
      fault.packets = static_cast<std::uint64_t>(packets);
    }
  }
  if (fault.kind != FaultKind::kDelay) return;
  entry.optional_duration("delay", fault.delay);
  if (fault.delay.count() <= 0 || fault.delay > std::chrono::minutes(1)) {
    entry.problem("delay", "is missing, or not above 0 and up to a minute");
  }
}

PlannedFault read_fault(ConfigSection& entry) {
  PlannedFault planned;
  std::string name;
  entry.required("fault", name);
  const auto kind = parse_fault_kind(name);
  if (!kind) {
    if (entry.has("fault")) entry.problem("fault", kind.error().message);
    return planned;
  }
  const KindRow& row = row_of(*kind);
  planned.fault.kind = *kind;
  entry.required(row.of_device ? "device" : "link", planned.fault.place);
  read_time(entry, "at", planned.at);
  read_lasting(entry, row, planned);
  read_repetition(entry, planned);
  if (!row.of_device) read_link_keys(entry, row, planned.fault);
  return planned;
}

/// Returns a name as the test bed has it; a link's ends may stand the other way round.
Expected<std::string> known_place(const Fault& fault, const std::vector<std::string>& names) {
  if (names.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: the test bed has no links",
                to_string(fault.kind));
  }
  if (fault.place == Fault::kAny || std::ranges::find(names, fault.place) != names.end()) {
    return fault.place;
  }
  const std::size_t middle = fault.place.find(" - ");
  if (middle != std::string::npos) {
    const std::string turned =
        fault.place.substr(middle + 3) + " - " + fault.place.substr(0, middle);
    if (std::ranges::find(names, turned) != names.end()) return turned;
  }
  return fail(ErrorCode::kNotFound, "{}: the test bed has no {} \"{}\"{}; it has {}",
              to_string(fault.kind), is_of_device(fault.kind) ? "device" : "link", fault.place,
              did_you_mean(fault.place, names), join(names));
}

}  // namespace

std::string_view to_string(FaultKind kind) { return row_of(kind).name; }

Expected<FaultKind> parse_fault_kind(const std::string& name) {
  for (const KindRow& row : kKinds) {
    if (name == row.name) return row.kind;
  }
  const auto names = names_of_kinds();
  return fail(ErrorCode::kInvalidArgument, "is one of {}{}", join(names),
              did_you_mean(name, names));
}

bool is_of_device(FaultKind kind) { return row_of(kind).of_device; }

std::string_view to_string(FaultDirection direction) {
  return kDirections.at(static_cast<std::size_t>(direction));
}

Expected<FaultDirection> parse_fault_direction(std::string_view name) {
  const auto found = std::ranges::find(kDirections, name);
  if (found != kDirections.end()) return static_cast<FaultDirection>(found - kDirections.begin());
  return fail(ErrorCode::kInvalidArgument, "is one of both, forward, backward, any");
}

Expected<FaultPlan> read_fault_plan(const std::filesystem::path& path) {
  PARETO_ASSIGN(ConfigReader file, ConfigReader::from_file(path));
  ConfigSection root = file.root();
  FaultPlan plan;
  int seed = 1;
  root.optional("seed", seed);
  if (seed < 0) root.problem("seed", "is less than 0");
  plan.seed = static_cast<std::uint64_t>(seed);
  std::vector<ConfigSection> entries = root.sections("faults");
  if (entries.empty() || entries.size() > std::size_t{FaultPlan::kMostFaults}) {
    root.problem("faults", fmt::format("lists {} faults, not 1 to {}", entries.size(),
                                       FaultPlan::kMostFaults));
  }
  for (ConfigSection& entry : entries) plan.faults.push_back(read_fault(entry));
  PARETO_TRY(file.finish());
  return plan;
}

FaultTimeline::FaultTimeline(FaultPlan plan, std::vector<std::string> devices,
                             std::vector<std::string> links)
    : plan_(std::move(plan)), devices_(std::move(devices)), links_(std::move(links)) {
  for (std::size_t entry = 0; entry < plan_.faults.size(); ++entry) add_beginning(entry, 0);
}

Expected<FaultTimeline> FaultTimeline::create(FaultPlan plan, std::vector<std::string> devices,
                                              std::vector<std::string> links) {
  for (PlannedFault& planned : plan.faults) {
    Fault& fault = planned.fault;
    PARETO_ASSIGN(fault.place, known_place(fault, is_of_device(fault.kind) ? devices : links));
  }
  return FaultTimeline(std::move(plan), std::move(devices), std::move(links));
}

Fault FaultTimeline::chosen(std::size_t entry, int time) const {
  Fault fault = plan_.faults[entry].fault;
  std::seed_seq seeds{plan_.seed, std::uint64_t{entry}, static_cast<std::uint64_t>(time)};
  std::mt19937_64 random(seeds);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const auto& places = is_of_device(fault.kind) ? devices_ : links_;
  if (fault.place == Fault::kAny) fault.place = places[below(places.size())];
  if (fault.direction == FaultDirection::kAny) {
    fault.direction = below(2) == 0 ? FaultDirection::kForward : FaultDirection::kBackward;
  }
  fault.seed = random();
  return fault;
}

void FaultTimeline::add_beginning(std::size_t entry, int time) {
  const PlannedFault& planned = plan_.faults[entry];
  moments_.push({planned.at + time * planned.every,
                 static_cast<std::uint64_t>(time) * plan_.faults.size() + entry, true,
                 chosen(entry, time)});
}

std::optional<FaultMoment> FaultTimeline::next() {
  if (moments_.empty()) return std::nullopt;
  FaultMoment moment = moments_.top();
  moments_.pop();
  if (!moment.begins) return moment;
  const std::size_t entry = moment.number % plan_.faults.size();
  const int time = static_cast<int>(moment.number / plan_.faults.size());
  const PlannedFault& planned = plan_.faults[entry];
  if (planned.lasts) {
    moments_.push({moment.at + *planned.lasts, moment.number, false, moment.fault});
  }
  if (time + 1 < planned.times) add_beginning(entry, time + 1);
  return moment;
}

}  // namespace pareto::netem
