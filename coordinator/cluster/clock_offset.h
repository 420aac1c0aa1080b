// How far a device's monotonic clock is from ours, and how sure that is. As NTP does it (RFC 5905, section 8): the offset is known to
// half of what the question and its answer spent on their way, however unequal the two ways were.
//
//   ours    asked ────╮                   ╭──▶ heard        offset = ((received − asked) + (answered − heard)) / 2
//   theirs            ╰─▶ received ─ answered               error  = ((heard − asked) − (answered − received)) / 2
#pragma once

#include <span>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// The four timestamps of one question and its answer.
struct ClockExchange {
  Nanoseconds asked{};     ///< on our clock
  Nanoseconds received{};  ///< on the device's
  Nanoseconds answered{};  ///< on the device's
  Nanoseconds heard{};     ///< on ours
};

struct ClockOffset {
  Nanoseconds offset{};  ///< the device's clock minus ours
  Nanoseconds error{};   ///< the true offset is at most this far away
};

/// From the exchange that spent the least time on its way. Fails: kInvalidArgument (no exchange), kCorrupt (timestamps that no clock
/// gives).
Expected<ClockOffset> clock_offset_of(std::span<const ClockExchange> exchanges);

/// For the time between two measurements: the clocks may have drifted from one offset to the other.
ClockOffset enclosing(const ClockOffset& before, const ClockOffset& after);

}  // namespace pareto::cluster
