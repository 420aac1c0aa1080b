#include "netem/tc_commands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "netem/token_bucket.h"

namespace pareto::netem {
namespace {

constexpr const char* kRateHandle = "ed00:";
constexpr const char* kPlainHandle = "ed04:";
constexpr std::array<const char*, 3> kNetemHandles{"ed01:", "ed02:", "ed03:"};
/// Takes a packet 12 ns: no more than that it keeps its place.
constexpr const char* kOrderKeepingRate = "1tbit";
constexpr std::uint64_t kFewestHeld = 1'000;
/// Some 300 MB of full packets.
constexpr std::uint64_t kMostHeld = 200'000;
constexpr std::uint64_t kSmallestPacketBytes = 64;
/// netem's jitter is 32 bits of nanoseconds.
constexpr double kMostJitter = 2'147'000'000;

const char* netem_handle(const plan::LinkDirection& direction) {
  return kNetemHandles.at(static_cast<std::size_t>(direction.jitter.shape));
}

/// tc knows no unit below.
std::string time_of(double nanoseconds) {
  return fmt::format("{}us", std::round(nanoseconds) / 1e3);
}

std::string percent(double share) { return fmt::format("{:.10g}%", share * 100); }

/// Returns what netem calls jitter, for a standard deviation of 1.
double jitter_scale(plan::JitterShape shape) {
  switch (shape) {
    case plan::JitterShape::kNormal:
      return 1;
    case plan::JitterShape::kUniform:
      // From -jitter to +jitter.
      return std::numbers::sqrt3;
    case plan::JitterShape::kPareto:
      // pareto.dist: of index 3 and normed by its deviation, but cut off at 4 of them; 0.8197 is
      // left.
      return 1 / 0.8197;
  }
  return 1;
}

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

void add_delay(std::vector<std::string>& arguments, const plan::LinkDirection& direction) {
  add(arguments, {"delay", time_of(to_nanoseconds(direction.delay))});
  const plan::Jitter& jitter = direction.jitter;
  if (jitter.deviation.count() == 0) return;
  const double scaled = to_nanoseconds(jitter.deviation) * jitter_scale(jitter.shape);
  add(arguments, {time_of(std::min(scaled, kMostJitter)), percent(jitter.correlation)});
  // Uniform is what it does without a table.
  if (jitter.shape == plan::JitterShape::kUniform) return;
  add(arguments, {"distribution", std::string(to_string(jitter.shape))});
}

void add_loss(std::vector<std::string>& arguments, const plan::LinkDirection& direction) {
  if (const auto& burst = direction.burst_loss) {
    add(arguments, {"loss", "gemodel", percent(burst->enter), percent(burst->leave),
                    percent(burst->when_bad), percent(burst->when_good)});
  } else if (direction.loss > 0) {
    add(arguments, {"loss", "random", percent(direction.loss)});
  }
}

}  // namespace

bool is_our_handle(const std::string& handle) {
  return handle == kRateHandle || handle == kPlainHandle ||
         std::ranges::find(kNetemHandles, handle) != kNetemHandles.end();
}

bool needs_netem(const plan::LinkDirection& direction) {
  const auto delays = [](const plan::ConditionChange& change) { return change.delay.has_value(); };
  return direction.delay.count() > 0 || direction.varies_by_packet() ||
         std::ranges::any_of(direction.trace, delays);
}

bool does_something(const plan::LinkDirection& direction) {
  return direction.bits_per_second > 0 || needs_netem(direction) || !direction.trace.empty();
}

std::uint64_t netem_limit(const plan::LinkDirection& direction) {
  if (direction.bits_per_second == 0) return kMostHeld;
  const double held_s = to_seconds(direction.delay + 5 * direction.jitter.deviation);
  const double bytes = static_cast<double>(direction.bits_per_second) / 8 * held_s +
                       static_cast<double>(queue_bytes(direction));
  const double packets = std::ceil(bytes / static_cast<double>(kSmallestPacketBytes));
  return std::clamp(static_cast<std::uint64_t>(packets), kFewestHeld, kMostHeld);
}

std::vector<std::string> netem_arguments(const plan::LinkDirection& direction) {
  std::vector<std::string> arguments{"limit", std::to_string(netem_limit(direction))};
  add_delay(arguments, direction);
  add_loss(arguments, direction);
  if (direction.duplicate > 0) add(arguments, {"duplicate", percent(direction.duplicate)});
  // Nothing waits where there is no delay, and netem would refuse.
  if (direction.reorder > 0 && direction.delay.count() > 0) {
    add(arguments, {"reorder", percent(direction.reorder)});
  }
  add(arguments, {"rate", kOrderKeepingRate});
  return arguments;
}

std::vector<TcCommand> tc_commands(const std::string& device, const plan::LinkDirection& direction,
                                   std::uint64_t largest_packet_bytes) {
  if (!does_something(direction)) return {remove_command(device)};
  const bool limited = direction.bits_per_second > 0;
  if (!needs_netem(direction)) {
    // A trace gives a rate later.
    if (!limited) {
      return {{"tc", "qdisc", "replace", "dev", device, "root", "handle", kPlainHandle, "pfifo"}};
    }
    return {token_bucket_command(device, direction, {"root", "handle", kRateHandle},
                                 largest_packet_bytes)};
  }
  const std::string handle = netem_handle(direction);
  TcCommand netem{"tc", "qdisc", "replace", "dev", device, "root", "handle", handle, "netem"};
  const auto arguments = netem_arguments(direction);
  netem.insert(netem.end(), arguments.begin(), arguments.end());
  const std::string child = handle + "1";
  if (limited) {
    return {netem,
            token_bucket_command(device, direction, {"parent", child}, largest_packet_bytes)};
  }
  // In place of a rate that was there before.
  return {netem,
          {"tc", "qdisc", "replace", "dev", device, "parent", child, "pfifo", "limit",
           std::to_string(kMostHeld)}};
}

TcCommand remove_command(const std::string& device) {
  return {"tc", "qdisc", "del", "dev", device, "root"};
}

std::vector<TcCommand> ingress_commands(const std::string& device, const std::string& ifb) {
  // u32 rather than matchall: older, and in more kernels.
  return {{"tc", "qdisc", "add", "dev", device, "ingress"},
          {"tc",     "filter", "add",    "dev",      device,  "parent", "ffff:", "protocol",
           "all",    "prio",   "1",      "u32",      "match", "u32",    "0",     "0",
           "action", "mirred", "egress", "redirect", "dev",   ifb}};
}

TcCommand remove_ingress_command(const std::string& device) {
  return {"tc", "qdisc", "del", "dev", device, "ingress"};
}

}  // namespace pareto::netem
