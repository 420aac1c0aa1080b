// What a stage does with its requests; stage.cc has how it begins, changes and ends.
#include <algorithm>
#include <utility>

#include "core/base/cpu_time.h"
#include "daemon/stage/stage.h"

namespace pareto::daemon {
namespace {

using wire::Message;
using wire::MessageKind;

/// Of a message that a link did not begin to send, so that another one may be: a result over the limits.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kInvalidArgument;
}

}  // namespace

void Stage::receive_requests() {
  for (;;) {
    const TimePoint asked = std::chrono::steady_clock::now();
    auto received = upstream_->receive();
    if (!received) return upstream_ended(received.error());
    const Nanoseconds waited = received->arrived - asked;
    if (!take(*std::move(received), waited)) return;
  }
}

bool Stage::take(transport::Received received, Nanoseconds waited) {
  Message& message = received.message;
  switch (message.kind) {
    case MessageKind::kPing: {
      const auto sent = upstream_answers_.answer(*upstream_, std::move(received));
      if (!sent) upstream_ended(sent.error());
      return sent.has_value();
    }
    case MessageKind::kPart:
    case MessageKind::kValues:
    case MessageKind::kError:
      if (message.pipeline != pipeline_) {
        end(fmt::format("upstream {} sent a request of pipeline {}", upstream_->peer(),
                        message.pipeline));
        return false;
      }
      meter_->bytes_received += received.wire_bytes;
      return message.kind == MessageKind::kPart ? take_part(std::move(received))
                                                : take_request(std::move(received), waited);
    case MessageKind::kPong:
      return true;  // padding: it came to keep the connection warm
    case MessageKind::kEnd:
      pass_end();
      return false;
    case MessageKind::kHello:
    case MessageKind::kReady:
      break;
  }
  end(fmt::format("upstream {} sent a message of kind {}", upstream_->peer(),
                  static_cast<int>(message.kind)));
  return false;
}

bool Stage::take_part(transport::Received received) {
  parts_received_.add_earlier(received);
  assembler_.expect(shard()->shard().inputs.size());
  const auto kept = assembler_.keep(std::move(received.message));
  if (!kept) end(fmt::format("upstream {}: {}", upstream_->peer(), kept.error().message));
  return kept.has_value();
}

bool Stage::take_request(transport::Received received, Nanoseconds waited) {
  if (const auto whole = assembler_.complete(received.message); !whole) {
    end(fmt::format("upstream {}: {}", upstream_->peer(), whole.error().message));
    return false;
  }
  received.add_earlier(std::exchange(parts_received_, {}));
  if (received.message.kind == MessageKind::kValues) ++meter_->requests;
  meter_->receiving += (received.receive + received.decode).count();
  const bool alone = meter_->in_flight++ == 0;
  // A frame whose tensors travelled by a codec holds less than they do.
  const std::uint64_t bytes = std::max(received.wire_bytes, tensor_bytes(received.message.body));
  Item item{std::move(received.message),
            {},
            received.arrived + received.receive + received.decode,
            bytes};
  item.times.stage = index_;
  item.times.arrived = received.arrived.time_since_epoch();
  item.times.receive = received.receive;
  item.times.decode = received.decode;
  item.times.receive_cpu = received.cpu;
  if (alone && may_compute_at_once(waited, received.wire_bytes)) return compute_and_send(item);
  return to_compute_.push(std::move(item)).has_value();
}

bool Stage::may_compute_at_once(Nanoseconds waited, std::uint64_t wire_bytes) const {
  // A message that was there already may have another one behind it, to be received while this one is computed.
  constexpr Nanoseconds kIdle = std::chrono::microseconds(20);
  // What links buffer by themselves: the next message of that size can come in meanwhile.
  constexpr std::uint64_t kBuffered = 1 << 20;
  // An engine's threads belong to the thread that runs it.
  return running_ && waited > kIdle && wire_bytes <= kBuffered && shard()->options().threads == 1;
}

void Stage::compute_requests() {
  while (auto item = to_compute_.pop()) {
    if (ended_ || !compute_and_send(*item)) return;
  }
}

bool Stage::compute_and_send(Item& item) {
  if (item.message.kind == MessageKind::kValues) compute(item);
  if (may_send_at_once(item)) return send(item);
  const bool last = item.message.kind == MessageKind::kEnd;
  return queue_to_send(std::move(item)) && !last;
}

bool Stage::queue_to_send(Item item) {
  ++unsent_;
  return to_send_.push(std::move(item)).has_value();
}

bool Stage::may_send_at_once(const Item& item) const {
  constexpr int kComputePerSend = 4;
  return unsent_ == 0 && to_compute_.size() == 0 &&
         last_sent_.send * kComputePerSend <= item.times.compute;
}

void Stage::compute(Item& item) {
  item.times.queue = std::chrono::steady_clock::now() - item.queued;
  auto outputs = run(item);
  if (outputs) {
    item.message.body = Tuple{*std::move(outputs)};
    item.bytes = tensor_bytes(item.message.body);
    meter_->wait.record(item.times.queue);
    meter_->compute.record(item.times.compute);
    return;
  }
  Message failed = failure_of(item.message.request, of_this_stage(outputs.error()));
  failed.timeline = std::move(item.message.timeline);
  item.message = std::move(failed);
  item.bytes = 0;
}

Error Stage::of_this_stage(const Error& error) const {
  return {error.code, name() + ": " + error.message};
}

Message Stage::failure_of(std::uint64_t request, const Error& error) {
  ++meter_->failed;
  log_about(log_fields(pipeline_, index_), LogLevel::kDebug,
            fmt::format("pipeline {:016x} request {}: {}", pipeline_, request, error.message));
  return control::error_message(pipeline_, request, error);
}

Expected<std::vector<Value>> Stage::run(Item& item) {
  Tuple* inputs = item.message.body.get_if<Tuple>();
  const std::shared_ptr<LoadedShard> shard = this->shard();
  const std::size_t wanted = shard->shard().inputs.size();
  if (inputs == nullptr || inputs->items.size() != wanted) {
    return fail(ErrorCode::kInvalidArgument, "the request holds {}, the shard takes a tuple of {}",
                describe(item.message.body), wanted);
  }
  early_.begin(pipeline_, item.message.request);
  const Nanoseconds start_cpu = thread_cpu_time();
  PARETO_ASSIGN(LoadedShard::Result result, shard->run(std::move(inputs->items), &early_));
  item.times.compute_cpu = thread_cpu_time() - start_cpu;
  item.message.sequence = early_.end();
  item.times.queue += result.waited;
  item.times.compute = result.compute;
  return std::move(result.outputs);
}

void Stage::send_results() {
  while (auto item = to_send_.pop()) {
    if (ended_ || !send(*item)) return;
    --unsent_;
  }
}

bool Stage::send(Item& item) {
  Message& message = item.message;
  if (refused_ && refused_->request == message.request) {
    // Nor can its other parts be of use.
    if (message.kind == MessageKind::kPart) return true;
    if (message.kind == MessageKind::kValues) {
      message = failure_of(message.request, refused_->error);
    }
  }
  if (message.kind == MessageKind::kValues) {
    item.times.encode = last_sent_.encode;
    item.times.send = last_sent_.send;
    item.times.send_cpu = last_sent_.cpu;
    message.timeline.push_back(item.times);
  }
  auto sent = send_downstream(message);
  const bool refused = !sent && is_refusal(sent.error());
  if (refused && message.kind == MessageKind::kPart) {
    refused_ = {message.request, of_this_stage(sent.error())};
    return true;
  }
  if (refused && message.kind == MessageKind::kValues) {
    message = failure_of(message.request, of_this_stage(sent.error()));
    sent = send_downstream(message);
  }
  if (!sent) {
    downstream_ended(sent.error());
    return false;
  }
  if (message.kind == MessageKind::kEnd) {
    end(std::nullopt);
    return false;
  }
  meter_->bytes_sent += sent->wire_bytes;
  meter_->sending += (sent->encode + sent->send).count();
  parts_sent_ += *sent;
  if (message.kind == MessageKind::kPart) return true;
  last_sent_ = std::exchange(parts_sent_, {});
  if (message.kind == MessageKind::kValues) ++meter_->answered;
  if (--meter_->in_flight == 0) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  return true;
}

Expected<transport::Sent> Stage::send_downstream(const Message& message) {
  const std::lock_guard lock(send_mutex_);
  return downstream_->send(message);
}

}  // namespace pareto::daemon
