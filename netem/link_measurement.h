// Measures a link by sending packets over it, to see whether an emulation does what was requested.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/condition.h"
#include "netem/link_emulator.h"

namespace pareto::netem {

struct MeasurementOptions {
  int probes = 100;                                     ///< small packets there and back
  Nanoseconds interval = std::chrono::milliseconds(5);  ///< time between them
  Nanoseconds stream = std::chrono::milliseconds(500);  ///< time for each direction's rate; 0: none
  /// Time after the last packet of a kind was sent: what is not there by then was lost.
  Nanoseconds patience = std::chrono::seconds(1);
  /// Packets arrive as they were sent: nothing of a stream is waited for once its end is there.
  bool in_order = false;
};

/// Returns options that suit a link of that condition. Where some probes are lost there are many, a
/// tenth of the rate for them at most. They are so far apart that hardly one is delayed by the
/// jitter of another. They take 5 s, and 20 s if those are not a hundred. A second beyond its
/// longest delays is waited for what may still come; in order unless some overtake or a trace
/// changes the delay.
MeasurementOptions measurement_for(const plan::Condition& condition);

/// Returns the share of packets that it loses in the long run.
double loss_of(const plan::LinkDirection& direction);

struct DirectionMeasurement {
  double bits_per_second = 0;  ///< rate of those that arrive, IP headers included; 0: not measured
  double loss = 0;             ///< share of the probes
  std::int64_t probes = 0;
};

struct LinkMeasurement {
  Nanoseconds round_trip{};            ///< median
  Nanoseconds round_trip_deviation{};  ///< standard deviation
  DirectionMeasurement forward;
  DirectionMeasurement backward;
};

/// Measures over UDP, in the order: probes, forward rate, backward rate. Nothing else should use
/// the link meanwhile. Takes the options' times, and the patience for each of the three that does
/// not end before. Fails: kTimeout (nothing comes across), kPermission, kInvalidArgument
/// (addresses).
///
/// Threads: one owner; it starts one next to the caller's for a while.
Expected<LinkMeasurement> measure_link(const LinkEnd& first, const LinkEnd& second,
                                       const MeasurementOptions& options);

/// Checks that a link is as requested. Round trip: within 5 % or 2 ms, and what chance may do to a
/// median. Rate: 0.9 to 1.1 of it, or of what losses leave of it and copies add to it, as the
/// emulator has it, or between the two. Loss: within 3.5 standard deviations of a binomial
/// distribution. What a trace changes is not judged. Fails: kUnavailable, with all that is off.
Expected<> check_measurement(const plan::Condition& asked, const LinkMeasurement& measured);

}  // namespace pareto::netem
