// Requests of somebody's own through one pipeline, one after the other as they come, until there
// are no more.
//
//   RequestSource ──next──▶ source thread ══▶ [stages] ══▶ sink (the calling thread)
//       ──▶ result thread ──▶ RequestSink
//
// Unlike a Load, which measures, a request that fails is told and the stream goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/load/lost_request.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"
#include "core/transport/transport.h"
#include "core/wire/message.h"

namespace pareto::load {

struct StreamRequest {
  std::string name;        ///< name for people
  std::int64_t batch = 1;  ///< its samples
  Expected<Value> body =
      Value(Tuple{});  ///< values in the order of the first shard's inputs, or why there are none
  int pipelines = 0;   ///< how many were lost with it
  int suspected = 0;   ///< how many of those it may have broken itself
  bool alone = false;  ///< no request is sent while it is in flight
  std::optional<TimePoint> first_sent{};  ///< when its sending began, to the first of them
  std::uint64_t number = 0;               ///< its place among all of the source, from 0
  std::uint64_t place = 0;  ///< its place among all that a backlog read, from 0: results keep it
};

struct StreamResult {
  std::uint64_t number = 0;  ///< the request's
  std::uint64_t place = 0;   ///< the request's
  std::string name;
  Expected<Value> outputs =
      Value(Tuple{});  ///< values in the order of the last shard's outputs, or why there are none
  /// Time from when its sending first began until its result was decoded. If it was sent again, the
  /// time without a pipeline counts.
  Nanoseconds latency{};
  int sent_again = 0;          ///< number of pipelines that were lost with it
  bool sent = true;            ///< false: it was accepted, and no pipeline was left to send it to
  std::uint64_t pipeline = 0;  ///< the pipeline that answered it
  std::uint64_t message = 0;   ///< number of its last message there: replicas take turns by it
  std::int64_t batch = 0;      ///< the request's
  wire::Timeline timeline{};   ///< what each stage took for it, or for its last message
  Nanoseconds
      sink_receive{};  ///< time from the first byte of that message to its last, at the sink
};

/// The source of requests.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Waits for the next one; returns no value if there is no more. Called by one thread of the
  /// stream's.
  virtual std::optional<StreamRequest> next() = 0;
  /// Wakes next(), which then returns none. Any thread.
  virtual void cancel() = 0;
};

/// The sink of results.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  /// Takes results in the order of the requests, failed ones too. Called by one thread of the
  /// stream's at a time, and not after it; until a window of results waits for it, it delays
  /// nobody. Then no request is sent until there is room.
  virtual void done(StreamResult result) = 0;
};

struct StreamOptions {
  int window = 1;  ///< requests in flight, at least 1
  /// A request that takes longer, and longer than timeout_for() the one before it, ends the stream.
  std::chrono::milliseconds request_timeout = kRequestTimeout;
  std::int64_t micro_batch = 0;  ///< samples that travel together; 0: all of a request
  /// Time after which a request's result is of no use: devices then drop it. 0: there is none.
  Nanoseconds deadline{};
  /// Name of the stage that refuses a request, for errors.
  std::string first_stage = "the first stage";
  /// Called once if the stream breaks, while both links are open: what devices say then is not yet
  /// a consequence of the end. Called by a thread of the stream's.
  std::function<void(const Error&)> on_break = {};
};

/// The end of a stream.
struct StreamEnd {
  /// The error that broke the pipeline (one of a link, kTimeout, kCorrupt), naming the request that
  /// was due. No value means that the requests have ended and every result has come.
  std::optional<Error> broken;
  std::vector<StreamRequest> unanswered;  ///< those without a result, in their order
};

/// Returns when the requests have ended and every result has come, or when the pipeline broke.
/// Nothing else may use the links meanwhile, nor afterwards if it broke. A request that the link to
/// the first stage refuses (a frame over that device's limit) fails alone. Closing both links and
/// cancelling the requests ends it early.
StreamEnd run_stream(transport::Link& source, transport::Link& sink, std::uint64_t pipeline,
                     const StreamOptions& options, RequestSource& requests, RequestSink& results);

}  // namespace pareto::load
