// Offset of a device's monotonic clock from ours, with its uncertainty. As in NTP (RFC 5905,
// section 8), the error is at most half of the time that question and answer spent on their way.
// This holds however unequal the two ways were.
//
//   ours    asked ────╮                   ╭──▶ heard
//   theirs            ╰─▶ received ─ answered
//
//   offset = ((received − asked) + (answered − heard)) / 2
//   error  = ((heard − asked) − (answered − received)) / 2
#pragma once

#include <span>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// The four timestamps of one question and its answer.
struct ClockExchange {
  Nanoseconds asked{};     ///< when it was asked, on our clock
  Nanoseconds received{};  ///< when the question came, on the device's clock
  Nanoseconds answered{};  ///< when it answered, on the device's clock
  Nanoseconds heard{};     ///< when the answer came, on our clock
};

struct ClockOffset {
  Nanoseconds offset{};  ///< the device's clock minus ours
  Nanoseconds error{};   ///< the true offset is at most this far away
};

/// Returns the offset of the exchange that spent the least time on its way. Fails: kInvalidArgument
/// (no exchange), kCorrupt (timestamps that no clock gives).
Expected<ClockOffset> clock_offset_of(std::span<const ClockExchange> exchanges);

/// Returns the offset for the time between two measurements: the clocks may have drifted from one
/// offset to the other.
ClockOffset enclosing(const ClockOffset& before, const ClockOffset& after);

}  // namespace pareto::cluster
