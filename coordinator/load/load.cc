#include "coordinator/load/load.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "coordinator/load/micro_batch.h"
#include "coordinator/load/take_result.h"

namespace pareto::load {
namespace {

using wire::Message;

/// The state that source and sink share: which messages are in flight, and how it all ends.
/// Threads: any.
class Window {
 public:
  /// Requests are `messages` messages each.
  Window(const LoadOptions& options, std::size_t messages, std::uint64_t first)
      : options_(options),
        messages_(messages),
        first_(first),
        start_(std::chrono::steady_clock::now()) {}

  /// Waits for room, and stamps the next message's start. Returns no value if no more are to be
  /// sent.
  std::optional<std::uint64_t> next() {
    std::unique_lock lock(mutex_);
    // A request makes room for another when the last of its messages is back.
    changed_.wait(lock, [&] {
      const std::size_t requests_back = completed_ / messages_;
      const std::size_t room = requests_back + static_cast<std::size_t>(options_.window);
      return stopped_ || sent_.size() < room * messages_;
    });
    const Nanoseconds now = std::chrono::steady_clock::now() - start_;
    const bool enough = sent_.size() % messages_ == 0 &&
                        sent_.size() >= messages_ * static_cast<std::size_t>(options_.requests) &&
                        (!options_.duration || now >= *options_.duration);
    if (stopped_ || enough) {
      all_sent_ = true;
      changed_.notify_all();
      return std::nullopt;
    }
    sent_.push_back(now);
    changed_.notify_all();
    return first_ + sent_.size() - 1;
  }

  /// Waits until a result is due. Returns no value if every message has completed, or the load was
  /// stopped.
  std::optional<std::uint64_t> oldest() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || all_sent_ || completed_ < sent_.size(); });
    if (stopped_ || completed_ == sent_.size()) return std::nullopt;
    return first_ + completed_;
  }

  /// Returns when the oldest message in flight was sent.
  TimePoint oldest_sent() {
    const std::lock_guard lock(mutex_);
    return start_ + sent_[completed_];
  }

  RequestSample complete() {
    const std::lock_guard lock(mutex_);
    RequestSample sample;
    sample.request = first_ + completed_;
    sample.sent = sent_[completed_++];
    sample.completed = std::chrono::steady_clock::now() - start_;
    changed_.notify_all();
    return sample;
  }

  TimePoint start() const { return start_; }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  const LoadOptions& options_;
  const std::size_t messages_;
  const std::uint64_t first_;
  const TimePoint start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Nanoseconds> sent_;
  std::size_t completed_ = 0;
  bool all_sent_ = false;
  bool stopped_ = false;
};

/// Takes a result. A load ends with the first request that fails.
Expected<transport::Received> take(transport::Link& sink, std::uint64_t request, TimePoint sent,
                                   const LoadOptions& options) {
  PARETO_ASSIGN(TakenResult taken, take_result(sink, request, sent, options.request_timeout));
  if (taken.failure) return tl::unexpected(*std::move(taken.failure));
  return std::move(taken.received);
}

/// Puts the times of a later message of the same request to those of the first.
void add(RequestSample& request, const RequestSample& message) {
  request.completed = message.completed;
  request.source += message.source;
  request.sink.receive += message.sink.receive;
  request.sink.decode += message.sink.decode;
  request.sink.cpu += message.sink.cpu;
  request.sink.wire_bytes += message.sink.wire_bytes;
  for (std::size_t i = 0; i < std::min(request.timeline.size(), message.timeline.size()); ++i) {
    wire::StageTimes& sum = request.timeline[i];
    const wire::StageTimes& one = message.timeline[i];
    for (const auto time :
         {&wire::StageTimes::receive, &wire::StageTimes::decode, &wire::StageTimes::queue,
          &wire::StageTimes::compute, &wire::StageTimes::encode, &wire::StageTimes::send,
          &wire::StageTimes::receive_cpu, &wire::StageTimes::compute_cpu,
          &wire::StageTimes::send_cpu}) {
      sum.*time += one.*time;
    }
  }
}

/// Joins `count` messages to one sample each; the rest of a request that was not completed is
/// dropped.
std::vector<RequestSample> joined(std::vector<RequestSample> messages, std::size_t count) {
  if (count == 1) return messages;
  std::vector<RequestSample> requests;
  for (std::size_t i = 0; i + count <= messages.size(); i += count) {
    RequestSample request = std::move(messages[i]);
    for (std::size_t j = i + 1; j < i + count; ++j) add(request, messages[j]);
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace

Expected<LoadResult> Load::run(const Value& body, const LoadOptions& options) {
  if (options.window < 1 || options.requests < 1) {
    return fail(ErrorCode::kInvalidArgument, "a load of {} requests, window {}: neither may be 0",
                options.requests, options.window);
  }
  std::vector<Value> bodies{body};
  if (!options.micro_batches.empty()) {
    PARETO_ASSIGN(bodies, split_batch(body, options.micro_batches));
  }
  const std::size_t messages = bodies.size();
  std::vector<Value> outputs(messages);  // of the last request
  Window window(options, messages, next_request_);
  std::optional<Error> send_error;
  std::optional<Error> receive_error;
  LoadResult result;
  result.began = window.start();
  const std::uint64_t first = next_request_;
  std::vector<transport::Sent> sends;  // of the source until it has ended
  Message message;
  message.pipeline = pipeline_;
  const auto send = [&](std::uint64_t request) {
    message.request = request;
    message.body = bodies[(request - first) % messages];
    auto sent = source_.send(message, deadline_after(options.request_timeout));
    if (sent) {
      sends.push_back(*sent);
      return true;
    }
    send_error = not_sent(sent.error(), options.request_timeout);
    // Nothing more will come: wake the sink.
    sink_.close();
    window.stop();
    return false;
  };
  const auto receive = [&](std::uint64_t request) {
    auto received = take(sink_, request, window.oldest_sent(), options);
    if (!received) {
      receive_error = std::move(with_context(std::move(received), "request {}", request)).error();
      window.stop();
      source_.close();
      return false;
    }
    RequestSample sample = window.complete();
    sample.sink = {received->arrived - window.start(), received->receive, received->decode,
                   received->cpu, received->wire_bytes};
    sample.timeline = std::move(received->message.timeline);
    result.samples.push_back(std::move(sample));
    outputs[(request - first) % messages] = std::move(received->message.body);
    return true;
  };
  if (options.window == 1 && messages == 1) {
    // Nothing is in flight while it sends, so one thread cannot block itself, and none has to be
    // woken between a result and the next request.
    while (const auto request = window.next()) {
      if (!send(*request) || !receive(*request)) break;
    }
  } else {
    const std::jthread source([&] {
      while (const auto request = window.next()) {
        if (!send(*request)) return;
      }
    });
    while (const auto request = window.oldest()) {
      if (!receive(*request)) break;
    }
  }
  next_request_ += result.samples.size();
  for (std::size_t i = 0; i < std::min(sends.size(), result.samples.size()); ++i) {
    result.samples[i].source = sends[i];
  }
  if (receive_error || send_error) {
    source_.close();
    sink_.close();
    return tl::unexpected(why_broken(send_error, receive_error));
  }
  result.samples = joined(std::move(result.samples), messages);
  requests_ += std::ssize(result.samples);
  if (options.micro_batches.empty()) {
    result.last_output = std::move(outputs.front());
  } else {
    PARETO_ASSIGN(result.last_output, join_batch(outputs, options.micro_batches));
  }
  return result;
}

}  // namespace pareto::load
