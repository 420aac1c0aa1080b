#include "core/plan/condition.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/config_reader.h"
#include "core/base/text.h"
#include "core/plan/mahimahi.h"

namespace pareto::plan {
namespace {

constexpr Nanoseconds kMaxDelay = std::chrono::minutes(1);
constexpr std::uint64_t kMinRate = 8'000;
constexpr std::uint64_t kMaxRate = 100'000'000'000;
constexpr std::uint64_t kMinQueue = 4 << 10;
constexpr std::uint64_t kMaxQueue = 1 << 30;
constexpr std::size_t kMaxTraceRows = 100'000;
constexpr std::array kShapes{JitterShape::kNormal, JitterShape::kUniform, JitterShape::kPareto};

void read_delay(ConfigSection& section, Nanoseconds& delay) {
  section.optional_duration("delay", delay);
  if (delay > kMaxDelay) section.problem("delay", "is longer than 60s");
}

void read_rate(ConfigSection& section, std::uint64_t& rate) {
  section.optional_rate("rate", rate);
  if (rate != 0 && (rate < kMinRate || rate > kMaxRate)) {
    section.problem("rate", fmt::format("{}bit is not from 8kbit to 100gbit", rate));
  }
}

void read_shape(ConfigSection& section, JitterShape& shape) {
  std::string name;
  section.optional("jitter_shape", name);
  if (name.empty()) return;
  std::vector<std::string> names;
  for (const JitterShape one : kShapes) {
    if (to_string(one) == name) {
      shape = one;
      return;
    }
    names.emplace_back(to_string(one));
  }
  section.problem("jitter_shape", fmt::format("is one of {}", join(names)));
}

void read_burst_loss(ConfigSection& section, std::optional<BurstLoss>& target) {
  auto burst = section.section("burst_loss");
  if (!burst) return;
  BurstLoss& loss = target.emplace();
  burst->optional_share("enter", loss.enter);
  burst->optional_share("leave", loss.leave);
  burst->optional_share("when_bad", loss.when_bad);
  burst->optional_share("when_good", loss.when_good);
  if (loss.enter == 0) burst->problem("enter", "is needed: how often the link turns bad, as 1%");
  if (loss.leave == 0) burst->problem("leave", "is 0: a link that turned bad would stay so");
}

ConditionChange read_change(ConfigSection& row) {
  ConditionChange change;
  row.optional_duration("at", change.at);
  if (!row.has("at")) row.problem("at", "is needed: when the row begins, as 10s");
  if (row.has("delay")) read_delay(row, change.delay.emplace());
  if (row.has("rate")) {
    read_rate(row, change.bits_per_second.emplace());
    if (change.bits_per_second == 0U) row.problem("rate", "is not from 8kbit to 100gbit");
  }
  if (!change.delay && !change.bits_per_second) row.problem("at", "changes neither delay nor rate");
  return change;
}

/// The folder that files named in a condition are looked for in; no value means that there are no
/// files.
using Folder = std::optional<std::filesystem::path>;

void read_packet_trace(ConfigSection& section, LinkDirection& direction, const Folder& folder) {
  std::string file;
  section.optional("mahimahi", file);
  if (file.empty()) return;
  if (section.has("trace") || section.has("trace_period") || section.has("rate")) {
    return section.problem("mahimahi", "is a rate and a trace of its own: leave out the others");
  }
  if (!folder) return section.problem("mahimahi", "names a file, and there are none here");
  auto trace = read_mahimahi(*folder / file);
  if (!trace) return section.problem("mahimahi", trace.error().message);
  direction.bits_per_second = *trace->rows.front().bits_per_second;
  direction.trace = std::move(trace->rows);
  direction.trace_period = trace->period;
}

void read_trace(ConfigSection& section, LinkDirection& direction) {
  section.optional_duration("trace_period", direction.trace_period);
  std::vector<ConfigSection> rows = section.sections("trace");
  if (rows.empty()) return;
  direction.trace.clear();
  if (rows.size() > kMaxTraceRows) {
    return section.problem("trace", fmt::format("has more than {} rows", kMaxTraceRows));
  }
  for (ConfigSection& row : rows) {
    const ConditionChange change = read_change(row);
    if (!direction.trace.empty() && change.at <= direction.trace.back().at) {
      row.problem("at", "does not come after the row before");
    }
    direction.trace.push_back(change);
  }
}

/// The keys of one direction, or of both; what is absent stays as it is.
void read_direction(ConfigSection& section, LinkDirection& direction, const Folder& folder) {
  read_delay(section, direction.delay);
  read_rate(section, direction.bits_per_second);
  section.optional_bytes("queue", direction.queue_bytes);
  if (section.has("queue") &&
      (direction.queue_bytes < kMinQueue || direction.queue_bytes > kMaxQueue)) {
    section.problem("queue", "is not from 4KiB to 1GiB");
  }
  section.optional_duration("jitter", direction.jitter.deviation);
  section.optional_share("jitter_correlation", direction.jitter.correlation);
  read_shape(section, direction.jitter.shape);
  section.optional_share("loss", direction.loss);
  read_burst_loss(section, direction.burst_loss);
  section.optional_share("reorder", direction.reorder);
  section.optional_share("duplicate", direction.duplicate);
  read_trace(section, direction);
  read_packet_trace(section, direction, folder);
}

/// Checks what only the whole of a direction shows. A problem is reported where its key stands: in
/// `own` or in `both`.
void check(const LinkDirection& direction, ConfigSection* own, ConfigSection& both) {
  const auto problem = [&](const char* key, const char* sentence) {
    (own != nullptr && own->has(key) ? *own : both).problem(key, sentence);
  };
  const bool any_rate =
      direction.bits_per_second > 0 || std::ranges::any_of(direction.trace, [](const auto& row) {
        return row.bits_per_second.has_value();
      });
  if (direction.queue_bytes > 0 && !any_rate) {
    problem("queue", "needs a rate next to it: without one nothing waits");
  }
  Nanoseconds shortest = direction.delay;
  for (const ConditionChange& row : direction.trace) {
    shortest = std::min(shortest, row.delay.value_or(shortest));
  }
  if (direction.jitter.deviation > shortest / 2) {
    problem("jitter", "is more than half the delay: packets would arrive before they leave");
  }
  if (direction.loss > 0 && direction.burst_loss) {
    problem("loss", "stands next to burst_loss, which has when_good for it");
  }
  if (direction.reorder > 0 && shortest.count() == 0) {
    problem("reorder", "needs a delay: there is nothing to overtake without one");
  }
  if (direction.trace_period.count() > 0 &&
      (direction.trace.empty() || direction.trace_period <= direction.trace.back().at)) {
    problem("trace_period", "ends before the last row of the trace begins");
  }
}

std::string to_text(Nanoseconds duration) { return fmt::format("{}ns", duration.count()); }

/// Writes a flow mapping of all keys that differ from their defaults.
std::string to_text(const LinkDirection& direction) {
  std::vector<std::string> keys;
  const auto add = [&](const char* key, const std::string& value) {
    keys.push_back(fmt::format("{}: {}", key, value));
  };
  const auto add_share = [&](const char* key, double share) {
    if (share > 0) add(key, to_percentage(share));
  };
  if (direction.delay.count() > 0) add("delay", to_text(direction.delay));
  if (direction.bits_per_second > 0) add("rate", fmt::format("{}bit", direction.bits_per_second));
  if (direction.queue_bytes > 0) add("queue", fmt::format("{}", direction.queue_bytes));
  if (direction.jitter.deviation.count() > 0) add("jitter", to_text(direction.jitter.deviation));
  add_share("jitter_correlation", direction.jitter.correlation);
  add("jitter_shape", std::string(to_string(direction.jitter.shape)));
  add_share("loss", direction.loss);
  if (const auto& burst = direction.burst_loss) {
    add("burst_loss", fmt::format("{{enter: {}, leave: {}, when_bad: {}, when_good: {}}}",
                                  to_percentage(burst->enter), to_percentage(burst->leave),
                                  to_percentage(burst->when_bad), to_percentage(burst->when_good)));
  }
  add_share("reorder", direction.reorder);
  add_share("duplicate", direction.duplicate);
  if (!direction.trace.empty()) {
    std::vector<std::string> rows;
    for (const ConditionChange& row : direction.trace) {
      std::string text = "{at: " + to_text(row.at);
      if (row.delay) text += ", delay: " + to_text(*row.delay);
      if (row.bits_per_second) text += fmt::format(", rate: {}bit", *row.bits_per_second);
      rows.push_back(text + "}");
    }
    add("trace", "[" + join(rows) + "]");
  }
  if (direction.trace_period.count() > 0) add("trace_period", to_text(direction.trace_period));
  return "{" + join(keys) + "}";
}

Expected<Condition> read(Expected<ConfigReader> file, const Folder& folder) {
  PARETO_TRY(file);
  ConfigSection root = file->root();
  const Condition condition = read_condition(root, folder);
  PARETO_TRY(file->finish());
  return condition;
}

}  // namespace

std::string_view to_string(JitterShape shape) {
  switch (shape) {
    case JitterShape::kNormal:
      return "normal";
    case JitterShape::kUniform:
      return "uniform";
    case JitterShape::kPareto:
      break;
  }
  return "pareto";
}

Condition read_condition(ConfigSection& section, const Folder& folder) {
  LinkDirection both;
  read_direction(section, both, folder);
  Condition condition{both, both};
  auto forward = section.section("forward");
  auto backward = section.section("backward");
  if (forward) read_direction(*forward, condition.forward, folder);
  if (backward) read_direction(*backward, condition.backward, folder);
  check(condition.forward, forward ? &*forward : nullptr, section);
  // What is wrong with both is told once.
  if (condition.backward != condition.forward) {
    check(condition.backward, backward ? &*backward : nullptr, section);
  }
  return condition;
}

Expected<Condition> read_condition(const std::filesystem::path& path) {
  return read(ConfigReader::from_file(path), path.parent_path());
}

Expected<Condition> parse_condition(const std::string& text, const std::string& name) {
  return read(ConfigReader::from_text(text, name), {});
}

std::string to_text(const Condition& condition) {
  return fmt::format("forward: {}\nbackward: {}\n", to_text(condition.forward),
                     to_text(condition.backward));
}

}  // namespace pareto::plan
