#include "tests/coordinator/support/fake_stage.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/control/hello.h"
#include "core/control/training_message.h"
#include "core/transport/ping.h"

namespace pareto::test {
namespace {

using wire::Message;
using wire::MessageKind;

Value add_to_all(const Value& body, std::int64_t amount) {
  std::vector<Value> items;
  for (const Tensor* in : tensors_of(body)) {
    Tensor out = Tensor::allocate(in->dtype(), in->shape()).value();
    for (std::size_t i = 0; i < in->size_bytes(); i += sizeof(float)) {
      float element = 0;
      std::memcpy(&element, in->bytes().data() + i, sizeof element);
      element += static_cast<float>(amount);
      std::memcpy(out.mutable_bytes().data() + i, &element, sizeof element);
    }
    items.emplace_back(std::move(out));
  }
  return Tuple{std::move(items)};
}

}  // namespace

void answer_pings(transport::Link& link) {
  transport::PingAnswers answers;
  while (auto received = link.receive()) {
    if (received->message.kind != MessageKind::kPing) continue;
    if (!answers.answer(link, *std::move(received))) return;
  }
}

FakeStage::FakeStage(control::StageRequest request, std::string device, const StageScript& script,
                     std::function<void()> die)
    : request_(std::move(request)),
      device_(std::move(device)),
      script_(script),
      die_(std::move(die)) {}

Expected<> FakeStage::connect_next(transport::Transport& transport) {
  if (request_.downstream.empty()) return {};
  const Deadline deadline = deadline_after(kHandshake);
  PARETO_ASSIGN(downstream_, transport.connect(request_.downstream, deadline));
  const control::Hello hello{.pipeline = request_.pipeline, .stage = request_.stage + 1};
  PARETO_TRY(downstream_->send(control::hello_message(hello), deadline));
  PARETO_TRY(downstream_->receive(deadline));
  return {};
}

void FakeStage::take(std::unique_ptr<transport::Link> link, bool is_sink) {
  (is_sink ? downstream_ : upstream_) = std::move(link);
  if (is_sink) answering_ = std::jthread([this] { answer_pings(*downstream_); });
  if (is_connected()) working_ = std::jthread([this] { serve_requests(); });
}

void FakeStage::close() {
  if (upstream_) upstream_->close();
  if (downstream_) downstream_->close();
}

void FakeStage::serve_requests() {
  while (auto received = upstream_->receive()) {
    if (!handle(*std::move(received))) break;
  }
  close();
}

bool FakeStage::handle(transport::Received received) {
  Message& message = received.message;
  if (message.kind == MessageKind::kPing) {
    return transport::PingAnswers().answer(*upstream_, std::move(received)).has_value();
  }
  if (message.kind == MessageKind::kEnd) return false;
  if (message.kind == MessageKind::kError) return downstream_->send(message).has_value();
  ++requests_;
  if (script_.hanging) {
    ++swallowed_;
    return true;
  }
  if (message.request == script_.last_request) {
    die_();
    return false;
  }
  const TimePoint start = std::chrono::steady_clock::now();
  if (message.request == script_.failing_request) {
    message.kind = MessageKind::kError;
    message.body =
        Tuple{{"exhausted", fmt::format("stage {} on {}: no memory", request_.stage, device_)}};
    return downstream_->send(message).has_value();
  }
  if (script_.training) return train(std::move(message));
  message.body = add_to_all(message.body, operators_);
  wire::StageTimes times;
  times.stage = request_.stage;
  times.arrived = received.arrived.time_since_epoch();
  times.receive = received.receive;
  times.decode = received.decode;
  times.compute = script_.operator_time
                      ? operators_.load() * *script_.operator_time + script_.shard_time
                      : std::chrono::steady_clock::now() - start;
  if (message.request % 2 == 1) times.compute += script_.sway;
  if (script_.misreporting) times.compute = Nanoseconds(-1);
  message.timeline.push_back(times);
  return downstream_->send(message).has_value();
}

bool FakeStage::train(Message message) {
  const control::TrainingPlace place{message.pipeline, message.request, message.sequence};
  if (message.kind == MessageKind::kStep) {
    auto command = control::step_from(std::move(message));
    if (!command) return false;
    const Nanoseconds pass = operators_.load() * script_.operator_time.value_or(Nanoseconds(1));
    command->times.push_back({.forward = pass, .backward = 2 * pass});
    return downstream_->send(control::step_message(place, *std::move(command))).has_value();
  }
  // Gradients are for the coordinator only: stages wait for none.
  const bool is_first = request_.stage == 0;
  if (is_first && !upstream_->send(control::gradient_message(place, {}))) return false;
  if (!request_.downstream.empty()) return downstream_->send(message).has_value();
  return downstream_->send(control::outcome_message(place, {.loss = 1, .correct = 0})).has_value();
}

}  // namespace pareto::test
