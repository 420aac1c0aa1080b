#include "coordinator/load/request_stream.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/load/micro_batch.h"
#include "coordinator/load/take_result.h"
#include "core/base/bounded_queue.h"

namespace pareto::load {
namespace {

/// A request on its way.
struct InFlight {
  StreamRequest request;                    ///< kept until it is answered
  std::vector<std::int64_t> micro_batches;  ///< empty: one message
  std::optional<Error> failure;             ///< it was not sent
  std::uint64_t first = 0;                  ///< number of its first message
  TimePoint sent;
  std::size_t messages() const { return std::max<std::size_t>(micro_batches.size(), 1); }
};

/// The state that source and sink share. Threads: any.
class Flight {
 public:
  explicit Flight(const StreamOptions& options)
      : window_(static_cast<std::size_t>(options.window)),
        asked_(options.request_timeout),
        timeout_(asked_) {}

  /// Waits for room in flight, and for the place that the result will take. False: the stream is
  /// broken.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      if (broken_) return true;
      if (flying_.size() + landed_ == most_results()) return false;
      return flying_.empty() || (flying_.size() < window_ && !flying_.back().request.alone);
    });
    return !broken_;
  }
  /// Returns how many results there are at most, those in flight included: a window of them may
  /// wait for their user.
  std::size_t most_results() const { return 2 * window_; }
  void add(InFlight request) {
    const std::lock_guard lock(mutex_);
    flying_.push_back(std::move(request));
    changed_.notify_all();
  }
  /// Takes what is left in flight, after all threads but one have ended.
  std::vector<StreamRequest> take_rest() {
    const std::lock_guard lock(mutex_);
    std::vector<StreamRequest> rest;
    for (InFlight& flying : flying_) rest.push_back(std::move(flying.request));
    flying_.clear();
    return rest;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void break_off() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }
  /// Waits for the oldest request, which stays in flight; no value if all have come, or the stream
  /// is broken.
  std::optional<InFlight> oldest() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return broken_ || ended_ || !flying_.empty(); });
    if (flying_.empty()) return std::nullopt;
    return flying_.front();
  }
  /// Returns what a request may take now.
  std::chrono::milliseconds timeout() {
    const std::lock_guard lock(mutex_);
    return timeout_;
  }
  void land(Nanoseconds latency) {
    const std::lock_guard lock(mutex_);
    flying_.pop_front();
    ++landed_;
    // The window is in it: a request waits for those before it.
    timeout_ = timeout_for(latency, 1, asked_);
    changed_.notify_all();
  }
  /// Frees the place of a result that its user has done with.
  void delivered() {
    const std::lock_guard lock(mutex_);
    const bool was_full = flying_.size() + landed_ == most_results();
    --landed_;
    if (was_full) changed_.notify_all();
  }

 private:
  const std::size_t window_;
  const std::chrono::milliseconds asked_;
  std::mutex mutex_;
  std::chrono::milliseconds timeout_;
  std::condition_variable changed_;
  std::deque<InFlight> flying_;
  std::size_t landed_ = 0;  ///< results that their user has not done with
  bool ended_ = false;
  bool broken_ = false;
};

std::vector<std::int64_t> sizes_of(std::int64_t batch, std::int64_t micro_batch) {
  plan::Plan plan;
  plan.batch = batch;
  plan.micro_batch = micro_batch < batch ? micro_batch : 0;
  return micro_batch_sizes(plan);
}

/// Returns the bodies of a request's messages.
Expected<std::vector<Value>> bodies_of(const Expected<Value>& body,
                                       const std::vector<std::int64_t>& sizes) {
  if (!body) return tl::unexpected(body.error());
  if (sizes.empty()) return std::vector<Value>{*body};
  return split_batch(*body, sizes);
}

/// Returns whether a link did not begin to send a message, so that others may follow.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kInvalidArgument;
}

/// The thread that sends. Threads: one owner.
class Sender {
 public:
  Sender(transport::Link& link, std::uint64_t pipeline, const StreamOptions& options,
         Flight& flight)
      : link_(link), options_(options), flight_(flight) {
    message_.pipeline = pipeline;
  }

  /// Sends everything. Returns why the link broke.
  std::optional<Error> send_all(RequestSource& requests) {
    while (flight_.wait_for_room()) {
      std::optional<StreamRequest> request = requests.next();
      if (!request) return std::nullopt;
      InFlight flying;
      flying.request = *std::move(request);
      if (auto broken = send(std::move(flying))) return broken;
    }
    return std::nullopt;
  }

 private:
  /// Puts the request in flight with its first message, when it is known whether it can be sent at
  /// all.
  std::optional<Error> send(InFlight flying) {
    flying.micro_batches = sizes_of(flying.request.batch, options_.micro_batch);
    auto bodies = bodies_of(flying.request.body, flying.micro_batches);
    if (!bodies) flying.failure = bodies.error();
    flying.first = number_;
    flying.sent = std::chrono::steady_clock::now();
    if (!flying.request.first_sent) flying.request.first_sent = flying.sent;
    message_.time_left = time_left(flying);
    if (!bodies) {
      flight_.add(std::move(flying));
      return std::nullopt;
    }
    auto sent = send(std::move(bodies->front()));
    const bool refused = !sent && is_refusal(sent.error());
    if (refused) {
      flying.failure = {sent.error().code,
                        fmt::format("{}: {}", options_.first_stage, sent.error().message)};
      --number_;
    }
    flight_.add(std::move(flying));
    for (std::size_t i = 1; sent && i < bodies->size(); ++i) sent = send(std::move((*bodies)[i]));
    if (sent || refused) return std::nullopt;
    return not_sent(sent.error(), timeout_);
  }
  /// Returns what a request has left of its deadline, at least 1 µs; 0: it has none.
  Nanoseconds time_left(const InFlight& flying) const {
    if (options_.deadline <= Nanoseconds(0)) return Nanoseconds(0);
    const Nanoseconds left = options_.deadline - (flying.sent - *flying.request.first_sent);
    return std::max<Nanoseconds>(left, std::chrono::microseconds(1));
  }
  Expected<> send(Value body) {
    message_.request = number_++;
    message_.body = std::move(body);
    timeout_ = flight_.timeout();
    PARETO_TRY(link_.send(message_, deadline_after(timeout_)));
    return {};
  }

  transport::Link& link_;
  const StreamOptions& options_;
  Flight& flight_;
  wire::Message message_;
  std::uint64_t number_ = 0;
  std::chrono::milliseconds timeout_{};  ///< timeout of the message that was sent last
};

/// Fails where the pipeline breaks; a failure of the request alone is in the result.
Expected<StreamResult> receive(transport::Link& sink, const InFlight& request,
                               std::chrono::milliseconds timeout) {
  StreamResult result;
  result.number = request.request.number;
  result.place = request.request.place;
  result.name = request.request.name;
  result.sent_again = request.request.pipelines;
  result.batch = request.request.batch;
  if (request.failure) {
    result.outputs = tl::unexpected(*request.failure);
    return result;
  }
  std::vector<Value> parts;
  std::optional<Error> failure;
  for (std::size_t i = 0; i < request.messages(); ++i) {
    PARETO_ASSIGN(TakenResult taken, take_result(sink, request.first + i, request.sent, timeout));
    if (taken.failure && !failure) failure = std::move(taken.failure);
    result.message = request.first + i;
    result.timeline = std::move(taken.received.message.timeline);
    result.sink_receive = taken.received.receive;
    parts.push_back(std::move(taken.received.message.body));
  }
  result.latency =
      std::chrono::steady_clock::now() - request.request.first_sent.value_or(request.sent);
  if (failure) {
    result.outputs = tl::unexpected(*std::move(failure));
  } else if (request.micro_batches.empty()) {
    result.outputs = std::move(parts.front());
  } else {
    result.outputs = join_batch(parts, request.micro_batches);
  }
  return result;
}

}  // namespace

StreamEnd run_stream(transport::Link& source, transport::Link& sink, std::uint64_t pipeline,
                     const StreamOptions& options, RequestSource& requests, RequestSink& results) {
  StreamEnd end;
  if (options.window < 1) {
    end.broken = {ErrorCode::kInvalidArgument, fmt::format("a window of {}", options.window)};
    return end;
  }
  Flight flight(options);
  std::optional<Error> send_error;
  std::optional<Error> receive_error;
  std::once_flag broken;
  const auto report_break = [&](const Error& error) {
    if (options.on_break) std::call_once(broken, options.on_break, error);
  };
  {
    // Their user takes a time that is not the pipeline's. There is a place for each result, because
    // nobody listens to devices while one waits for a place.
    BoundedQueue<StreamResult> landed(flight.most_results());
    const std::jthread landing([&] {
      while (auto result = landed.pop()) {
        results.done(*std::move(result));
        flight.delivered();
      }
    });
    const std::jthread sending([&] {
      send_error = Sender(source, pipeline, options, flight).send_all(requests);
      if (send_error) {
        report_break(*send_error);
        // Nothing more will come: wake the sink.
        sink.close();
        flight.break_off();
      }
      flight.end();
    });
    while (const std::optional<InFlight> request = flight.oldest()) {
      auto result = with_context(receive(sink, *request, flight.timeout()), "request {}",
                                 request->request.name);
      if (!result) {
        receive_error = std::move(result).error();
        report_break(*receive_error);
        flight.break_off();
        source.close();
        requests.cancel();
        break;
      }
      result->pipeline = pipeline;
      // Not the time that there was no pipeline: the next one's timeout follows from it.
      flight.land(std::chrono::steady_clock::now() - request->sent);
      static_cast<void>(landed.push(*std::move(result)));
    }
    landed.close();
  }
  if (send_error || receive_error) {
    end.broken = why_broken(send_error, receive_error);
  }
  end.unanswered = flight.take_rest();
  return end;
}

}  // namespace pareto::load
