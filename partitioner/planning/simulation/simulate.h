// Runs a scenario: discrete events, exact for what scenario.h describes, the same for the same
// seed.
//
//   request ─▶ source ─▶ (places of a link) ═▶ receive ─▶ (queue) ─▶ compute ─▶ (queue) ─▶ send
//       ─▶ (places) ═▶ … ═▶ sink ─▶ latency
//
// A thread takes one message, works on it, and hands it over. If there is no place for it, the
// thread waits, and so do all behind it, back to the source. BoundedQueue and Link::send make a
// daemon's threads wait in the same way. Work on a device takes a core, first come first served and
// not interrupted. A message waits for its link, or medium, in the order sent.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/simulation/scenario.h"

namespace pareto::simulation {

/// Shares of time that the things of a class were at work.
struct Utilisation {
  double mean = 0;
  double most = 0;
  int busiest = 0;  ///< number of that one in its class, from 0
};

struct DeviceOutcome {
  std::string name;
  int count = 1;
  int cores = 1;
  Utilisation use;  ///< use of all cores of a device
};

struct MediumOutcome {
  std::string name;
  int count = 1;
  Utilisation use;
};

/// Means over time and over the pipelines of a class.
struct StageOutcome {
  std::string device;
  double computing = 0;  ///< share of time with a message in the compute thread's hands
  double blocked =
      0;  ///< share of time with one that could not be handed on, of the thread that waited most
  double queue_mean = 0;  ///< messages received and waiting to be computed
  std::int64_t queue_most = 0;
  // Times of a request, on average: in the hands of each thread, which may wait for a core, and in
  // the queue before compute.
  double receive_ms = 0;
  double queue_ms = 0;
  double compute_ms = 0;
  double send_ms = 0;
};

struct LinkOutcome {
  /// Channel that it passes, of several the busiest; empty: each pipeline has a link of its own.
  std::string medium;
  Utilisation use;  ///< use of that channel
  /// Time of a request, on average: from when it was sent, in its turn or not, to its arrival.
  double transfer_ms = 0;
  std::vector<std::string> media{};  ///< all that it passes

  /// Returns "wifi/uplink"; empty: a link of its own.
  std::string way() const;
};

/// The latencies in ms. Percentiles are within LatencyHistogram::kRelativeError, all else is exact.
struct LatencyOutcome {
  double mean_ms = 0;
  double least_ms = 0;
  double most_ms = 0;
  double p50_ms = 0;
  double p90_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
};

struct PipelineOutcome {
  std::string name;
  int count = 1;
  int window = 0;             ///< 0: any number in flight
  std::int64_t requests = 0;  ///< completed while it was measured
  double requests_per_s = 0;  ///< rate of the whole class
  double samples_per_s = 0;
  /// Time from when a request came (closed: from when the source begins to make it) to its result.
  LatencyOutcome latency;
  double in_flight =
      0;  ///< requests that came and are not done, on average over time, of one pipeline
  std::vector<StageOutcome> stages;
  std::vector<LinkOutcome> links;  ///< stages + 1, the result's last
  std::string
      bottleneck;  ///< "device edge", "stage 1", "link 0", "medium wifi": what was at work most
  double bottleneck_use = 0;
};

struct Outcome {
  Nanoseconds simulated{};    ///< time simulated, from the beginning
  Nanoseconds measured{};     ///< time measured, without warm-up
  std::int64_t requests = 0;  ///< completed, with warm-up
  std::int64_t events = 0;
  bool stopped = false;  ///< true if it stopped before its end, because it was told to
  std::vector<DeviceOutcome> devices;
  std::vector<MediumOutcome> media;
  std::vector<PipelineOutcome> pipelines;
};

/// Told now and then how much is done, 0 … 1; false stops it.
using OnProgress = std::function<bool(double share)>;

/// Simulates the scenario. Memory: 32 bytes a thread (3 a stage), 16 a request in flight and 16 an
/// event. Threads: any; one call uses one. Fails: as check(); kExhausted (a closed end: over 2^31
/// requests of one pipeline in flight); kInvalidArgument (it ended, and no request was completed
/// after the warm-up).
Expected<Outcome> simulate(const Scenario& scenario, const OnProgress& on_progress = {});

}  // namespace pareto::simulation
