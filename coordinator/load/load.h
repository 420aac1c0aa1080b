// A closed loop through one pipeline: a source that keeps at most `window` requests in flight, and
// a sink that takes the results.
//
//   source ══▶ [stages] ══▶ sink (the calling thread);  each result lets the next request go
//
// The source has a thread of its own, unless only one message is in flight.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/load/lost_request.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"
#include "core/wire/message.h"

namespace pareto::load {

struct LoadOptions {
  int window = 1;    ///< requests in flight
  int requests = 1;  ///< at least this many requests …
  /// … and more until this much time has passed since the first was sent.
  std::optional<Nanoseconds> duration;
  /// A request that takes longer has failed.
  std::chrono::milliseconds request_timeout = kRequestTimeout;
  /// Samples of each message that a request travels in (coordinator/load/micro_batch.h); empty: one
  /// message.
  std::vector<std::int64_t> micro_batches;
};

/// The times at which a result came to the sink.
struct SinkTimes {
  Nanoseconds arrived{};  ///< since the load began: when its first byte was read
  Nanoseconds receive{};  ///< time from then on, without `decode`
  Nanoseconds decode{};
  Nanoseconds cpu{};  ///< processor time of the sink's thread for both
  std::uint64_t wire_bytes = 0;
};

/// A sample of one request. In micro-batches it is sent with the first and completed with the last;
/// all other times are sums over them, arrivals those of the first.
struct RequestSample {
  std::uint64_t request = 0;  ///< number of its first message
  Nanoseconds sent{};         ///< since the load began: when its send was called
  Nanoseconds completed{};    ///< since the load began: when its result was decoded
  transport::Sent source;     ///< its way into the source's link
  wire::Timeline timeline;
  SinkTimes sink;
  Nanoseconds latency() const { return completed - sent; }
};

struct LoadResult {
  std::vector<RequestSample> samples;  ///< samples in the order of completion
  Value last_output;                   ///< body of the last result
  TimePoint began{};
};

/// A pipeline's two ends, between which requests go round.
///
/// Threads: one owner; each run() joins its source thread.
class Load {
 public:
  /// Makes a load. Both links must outlive it. Nothing else may use them meanwhile.
  Load(transport::Link& source, transport::Link& sink, std::uint64_t pipeline)
      : source_(source), sink_(sink), pipeline_(pipeline) {}

  /// Sends `body` repeatedly, and returns when every request has completed. The first failure ends
  /// it. Both links are then closed: a pipeline with lost requests is not used again.
  /// Fails: with a request's own error (kError), kTimeout (with the request), kCorrupt (a result
  /// nobody asked for), kInvalidArgument (a request or result that cannot be cut into
  /// micro-batches), and as links do.
  Expected<LoadResult> run(const Value& body, const LoadOptions& options);

  /// Returns the number of requests that were completed, of all runs.
  std::int64_t requests() const { return requests_; }

 private:
  transport::Link& source_;
  transport::Link& sink_;
  const std::uint64_t pipeline_;
  std::uint64_t next_request_ = 0;
  std::int64_t requests_ = 0;
};

}  // namespace pareto::load
