#include "core/plan/condition.h"

#include "core/base/config_reader.h"
#include "core/base/text.h"

namespace pareto {
namespace {

constexpr Nanoseconds kMaxDelay = std::chrono::minutes(1);
constexpr std::uint64_t kMinRate = 8'000;
constexpr std::uint64_t kMaxRate = 100'000'000'000;
constexpr std::uint64_t kMinQueue = 4 << 10;
constexpr std::uint64_t kMaxQueue = 1 << 30;

void read_rate(ConfigSection& section, std::uint64_t& target) {
  std::string text;
  section.optional("rate", text);
  if (text.empty()) return;
  const auto rate = parse_rate(text);
  if (!rate) return section.problem("rate", rate.error().message);
  if (*rate < kMinRate || *rate > kMaxRate) {
    return section.problem("rate", fmt::format("{} is not from 8kbit to 100gbit", text));
  }
  target = *rate;
}

/// The keys of one direction, or of both; what is absent stays as it is.
void read_direction(ConfigSection& section, LinkDirection& direction) {
  section.optional_duration("delay", direction.delay);
  if (direction.delay > kMaxDelay) section.problem("delay", "is longer than 60s");
  read_rate(section, direction.bits_per_second);
  section.optional_bytes("queue", direction.queue_bytes);
  if (!section.has("queue")) return;
  if (direction.queue_bytes < kMinQueue || direction.queue_bytes > kMaxQueue) {
    section.problem("queue", "is not from 4KiB to 1GiB");
  }
}

Expected<Condition> read(Expected<ConfigReader> file) {
  PARETO_TRY(file);
  ConfigSection root = file->root();
  LinkDirection both;
  read_direction(root, both);
  Condition condition{both, both};
  const auto read_one = [&](const char* key, LinkDirection& direction) {
    auto section = root.section(key);
    if (section) read_direction(*section, direction);
    // Without a rate nothing waits.
    if (direction.queue_bytes > 0 && direction.bits_per_second == 0) {
      ConfigSection& named = section && section->has("queue") ? *section : root;
      named.problem("queue", "needs a rate beside it: without one nothing waits");
    }
  };
  read_one("forward", condition.forward);
  read_one("backward", condition.backward);
  PARETO_TRY(file->finish());
  return condition;
}

}  // namespace

Expected<Condition> read_condition(const std::filesystem::path& path) {
  return read(ConfigReader::from_file(path));
}

Expected<Condition> parse_condition(const std::string& text, const std::string& name) {
  return read(ConfigReader::from_text(text, name));
}

}  // namespace pareto
