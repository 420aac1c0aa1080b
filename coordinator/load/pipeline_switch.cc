#include "coordinator/load/pipeline_switch.h"

#include <chrono>
#include <utility>

namespace pareto::load {
namespace {

Error stream_has_ended() { return {ErrorCode::kClosed, "the stream of requests has ended"}; }

}  // namespace

Expected<SwitchReport> SwitchDesk::ask(SwitchRequest request) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !busy_; });
  if (closed_) return tl::unexpected(stream_has_ended());
  busy_ = true;
  asked_ = std::move(request);
  if (on_ask_) on_ask_();
  changed_.wait(lock, [&] { return answer_.has_value(); });
  Expected<SwitchReport> answer = *std::move(answer_);
  answer_.reset();
  busy_ = false;
  changed_.notify_all();
  return answer;
}

void SwitchDesk::open(std::function<void()> asked) {
  const std::lock_guard lock(mutex_);
  on_ask_ = std::move(asked);
}

std::optional<SwitchRequest> SwitchDesk::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_, std::nullopt);
}

bool SwitchDesk::is_asked() const {
  const std::lock_guard lock(mutex_);
  return asked_.has_value();
}

void SwitchDesk::answer(Expected<SwitchReport> report) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(report);
  changed_.notify_all();
}

void SwitchDesk::close() {
  // The opener ends outside the lock.
  std::optional<SwitchRequest> refused;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  on_ask_ = nullptr;
  refused = std::exchange(asked_, std::nullopt);
  if (refused) answer_ = tl::unexpected(stream_has_ended());
  changed_.notify_all();
}

PipelineSwitch::PipelineSwitch(SwitchRequest request, std::function<void()> opened)
    : request_(std::move(request)), thread_([this, opened = std::move(opened)] {
        const TimePoint began = std::chrono::steady_clock::now();
        pipeline_ = request_.opener->open();
        opening_ = std::chrono::steady_clock::now() - began;
        opened_ = true;
        opened();
      }) {}

Expected<std::unique_ptr<StreamPipeline>> PipelineSwitch::take_pipeline() {
  if (thread_.joinable()) thread_.join();
  return std::move(pipeline_);
}

}  // namespace pareto::load
