// Condition of a link: what it does to packets. Predictions, emulation and records share this type.
// A file:
//
//   delay: 20ms            # both directions …
//   rate: 100mbit
//   loss: 0.1%
//   forward:               # … but what is named here holds for this one only
//     rate: 10mbit
//     queue: 128KiB
//   trace:                 # and it may change over time
//     - {at: 10s, rate: 5mbit}
//
// Format: core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto {
class ConfigSection;
}  // namespace pareto

namespace pareto::plan {

enum class JitterShape { kNormal, kUniform, kPareto };
/// Returns "normal", "uniform", "pareto".
std::string_view to_string(JitterShape shape);

/// The amount by which the delays of packets differ.
struct Jitter {
  Nanoseconds deviation{};  ///< the standard deviation, whatever the shape; at most half the delay
  double correlation = 0;  ///< correlation of a packet's delay with that of the one before, 0 … 1
  JitterShape shape =
      JitterShape::kNormal;  ///< pareto: of index 3, with a long tail of late packets
  bool operator==(const Jitter&) const = default;
};

/// Losses that come together: a link is good or bad and may turn with each packet (Gilbert 1960,
/// Elliott 1963).
struct BurstLoss {
  double enter = 0;      ///< probability to go from good to bad, each packet
  double leave = 1;      ///< probability to go from bad to good
  double when_bad = 1;   ///< share lost while it is bad
  double when_good = 0;  ///< … and good
  bool operator==(const BurstLoss&) const = default;
};

/// A change from a moment on.
struct ConditionChange {
  Nanoseconds at{};  ///< since the link was made
  std::optional<Nanoseconds> delay;
  std::optional<std::uint64_t> bits_per_second;
  bool operator==(const ConditionChange&) const = default;
};

/// One direction of a link. The default is a link that does nothing to its packets. Shares are of
/// packets, as they are on the wire: up to 1500 bytes each. All of them are independent of what is
/// in a packet.
struct LinkDirection {
  Nanoseconds delay{};  ///< delay of every packet, beyond its time at `rate`; at most a minute
  std::uint64_t bits_per_second = 0;  ///< IP headers included; 0: as fast as the machine is
  /// Bytes that may wait for the rate; a packet that finds no room is lost. 0: what passes in 50
  /// ms, at least 64 KiB.
  std::uint64_t queue_bytes = 0;
  Jitter jitter{};  ///< keeps packets in their order
  double loss = 0;  ///< probability of losing each packet by itself, 0 … 1
  std::optional<BurstLoss> burst_loss{};
  double reorder = 0;                    ///< overtake all others: they have no delay
  double duplicate = 0;                  ///< arrive twice
  std::vector<ConditionChange> trace{};  ///< ascending
  Nanoseconds trace_period{};  ///< time after which the trace begins again; 0: its last row stays

  bool operator==(const LinkDirection&) const = default;
  /// Returns whether packets differ from each other in what happens to them.
  bool varies_by_packet() const {
    return jitter.deviation.count() > 0 || loss > 0 || burst_loss || reorder > 0 || duplicate > 0;
  }
};

struct Condition {
  LinkDirection forward;   ///< direction from the first end to the second: downstream
  LinkDirection backward;  ///< direction from the second to the first
  bool operator==(const Condition&) const = default;
};

/// Reads a condition's file, all of it before any is used. Fails: kNotFound, kPermission,
/// kInvalidArgument with file, line and nearest key.
Expected<Condition> read_condition(const std::filesystem::path& path);
/// Parses a condition. `name` stands for the file in errors; the text may name no other files.
Expected<Condition> parse_condition(const std::string& text, const std::string& name);
/// Reads a condition from a section of another file, which reports what is wrong with it when that
/// file is finished. Files that it names are looked for in `folder`; no value means that it may
/// name none.
Condition read_condition(ConfigSection& section,
                         const std::optional<std::filesystem::path>& folder);
/// Writes the text from which parse_condition() reads the same.
std::string to_text(const Condition& condition);

}  // namespace pareto::plan
