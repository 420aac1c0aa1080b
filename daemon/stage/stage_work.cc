#include "daemon/stage/stage_work.h"

#include <utility>

#include "core/base/cpu_time.h"

namespace pareto::daemon {

using wire::Message;
using wire::MessageKind;

StageWork::StageWork(const StageContext& context, std::shared_ptr<LoadedShard> shard,
                     StageTurns turns, EarlyParts::HasRoom has_room, EarlyParts::Send send_part)
    : context_(context),
      turns_(std::move(turns)),
      shard_(std::move(shard)),
      early_(std::move(has_room), std::move(send_part), clock_) {}

void StageWork::compute(StageItem& item, std::optional<Turn> turn) {
  Message& message = item.message;
  if (message.kind != MessageKind::kValues) return;
  item.times.queue = std::chrono::steady_clock::now() - item.queued;
  if (auto outputs = forward(item, std::move(turn))) {
    message.body = Tuple{*std::move(outputs)};
    item.bytes = tensor_bytes(message.body);
    context_.meter->wait.record(item.times.queue);
    context_.meter->compute.record(item.times.compute);
  } else {
    Message failure = context_.failure_of(message.request, outputs.error());
    failure.timeline = std::move(message.timeline);
    message = std::move(failure);
    item.bytes = 0;
  }
}

device::TurnRequest StageWork::turn_of(const StageItem& item, const LoadedShard& shard) const {
  // Work on an accelerator takes the one thread that waits for it.
  const bool on_cores = shard.options().device == "cpu";
  return {.cores = on_cores ? shard.options().threads : 1,
          .priority = item.message.priority != 0 ? item.message.priority : turns_.priority,
          .deadline = item.deadline,
          .arrived = item.queued,
          .alone = &shard,
          .elsewhere = !on_cores,
          // The workers of a schedule wait for each other.
          .can_pause = on_cores && shard.workers() == 0};
}

Expected<TrainingTimes> StageWork::train(const std::function<Expected<>(runtime::Trainer&)>& pass) {
  const std::shared_ptr<LoadedShard> shard = this->shard();
  StageItem item;
  item.queued = clock_.now();
  device::TurnRequest request = turn_of(item, *shard);
  request.can_pause = false;
  PARETO_ASSIGN(Turn turn, take_turn(request, shard));
  const Nanoseconds waited = clock_.now() - item.queued;
  PARETO_ASSIGN(const Nanoseconds compute, shard->train(std::move(turn.use), pass, &early_));
  context_.meter->turn_wait.record(waited);
  context_.meter->compute.record(compute);
  return TrainingTimes{waited, compute};
}

std::optional<StageWork::Turn> StageWork::try_turn(const StageItem& item) {
  std::shared_ptr<LoadedShard> shard = this->shard();
  auto cores = turns_.taker->try_take(turn_of(item, *shard));
  if (!cores) return std::nullopt;
  LoadedShard::Use use = shard->try_use();
  if (!use) return std::nullopt;
  return Turn{std::move(shard), *std::move(cores), std::move(use)};
}

Expected<StageWork::Turn> StageWork::take_turn(const device::TurnRequest& request,
                                               std::shared_ptr<LoadedShard> shard) {
  for (;;) {
    {
      PARETO_ASSIGN(device::DeviceScheduler::Turn cores, turns_.taker->take(request));
      if (LoadedShard::Use use = shard->try_use()) {
        return Turn{std::move(shard), std::move(cores), std::move(use)};
      }
    }
    // Who profiles a shard has no turn, and takes long. Nobody waits for a shard with cores in
    // hand, nor for cores with a shard in hand, so that others compute meanwhile.
    shard->wait_until_free(closing_.get_token(), request.deadline);
  }
}

void StageWork::close() {
  turns_.taker->close();
  // Then, so that who is woken gets no turn.
  closing_.request_stop();
}

Expected<StageWork::Turn> StageWork::wait_for_turn(StageItem& item,
                                                   std::shared_ptr<LoadedShard> shard) {
  const TimePoint asked = clock_.now();
  const device::TurnRequest request = turn_of(item, *shard);
  auto turn = take_turn(request, std::move(shard));
  const Nanoseconds waited = clock_.now() - asked;
  item.times.queue += waited;
  if (!turn && turn.error().code == ErrorCode::kTimeout) ++context_.meter->dropped;
  return turn;
}

Expected<std::vector<Value>> StageWork::forward(StageItem& item, std::optional<Turn> turn) {
  Message& message = item.message;
  Tuple* inputs = message.body.get_if<Tuple>();
  const std::shared_ptr<LoadedShard> shard = turn ? turn->shard : this->shard();
  const std::size_t wanted = shard->shard().inputs.size();
  if (inputs == nullptr || inputs->items.size() != wanted) {
    return fail(ErrorCode::kInvalidArgument, "the request holds {}, the shard takes a tuple of {}",
                describe(message.body), wanted);
  }
  Nanoseconds waited{};
  if (!turn) {
    const Nanoseconds before = item.times.queue;
    PARETO_ASSIGN(Turn waited_for, wait_for_turn(item, shard));
    turn.emplace(std::move(waited_for));
    waited = item.times.queue - before;
  }
  early_.begin(context_.pipeline, message.request);
  const Nanoseconds start_cpu = thread_cpu_time();
  PARETO_ASSIGN(LoadedShard::Result result,
                shard->run(std::move(turn->use), std::move(inputs->items), &early_, &turn->cores));
  item.times.compute_cpu = thread_cpu_time() - start_cpu;
  message.sequence = early_.end();
  item.times.queue += result.waited;
  context_.meter->turn_wait.record(waited + result.paused);
  item.times.compute = result.compute;
  context_.meter->workers.add(result.workers);
  return std::move(result.outputs);
}

void StageWork::stop() { shard()->stop(early_); }

std::shared_ptr<LoadedShard> StageWork::shard() const {
  const std::lock_guard lock(mutex_);
  return shard_;
}

std::shared_ptr<LoadedShard> StageWork::change(std::shared_ptr<LoadedShard> shard) {
  const std::lock_guard lock(mutex_);
  return std::exchange(shard_, std::move(shard));
}

}  // namespace pareto::daemon
