// What a link does to what crosses it: predicted from, emulated and recorded as one type. A file:
//
//   delay: 20ms            # both directions …
//   rate: 100mbit
//   forward:               # … but what is named here holds for this one only
//     rate: 10mbit
//     queue: 128KiB
//
// Format: core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto {

/// One direction of a link. The default is a link that does nothing to its packets.
struct LinkDirection {
  Nanoseconds delay{};  ///< of every packet, beyond its time at `rate`; at most a minute
  std::uint64_t bits_per_second = 0;  ///< IP headers included; 0: as fast as the machine is
  /// What may wait for the rate; a packet that finds no room is lost. 0: what passes in 50 ms, at least 64 KiB.
  std::uint64_t queue_bytes = 0;
  bool operator==(const LinkDirection&) const = default;
};

struct Condition {
  LinkDirection forward;   ///< from the first end to the second: downstream
  LinkDirection backward;  ///< from the second to the first
  bool operator==(const Condition&) const = default;
};

/// Read whole and validated whole. Fails: kNotFound, kPermission, kInvalidArgument with file, line and nearest key.
Expected<Condition> read_condition(const std::filesystem::path& path);
/// `name` stands for the file in errors.
Expected<Condition> parse_condition(const std::string& text, const std::string& name);

}  // namespace pareto
