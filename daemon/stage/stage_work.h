// Computing part of a stage: runs its shard on a message.
//
//   StageItem (a request's inputs) ──its turn──compute──▶ the same item (outputs, or its error)
//                                       └─early──▶ parts of the outputs, while the shard still runs
//
// Passes of training are calls of train(): who makes them knows their order (training_stage.h).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tensor/value.h"
#include "daemon/device/device_scheduler.h"
#include "daemon/stage/early_parts.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_item.h"

namespace pareto::daemon {

/// Turns of a stage at the device: who takes them, and in which order.
struct StageTurns {
  std::unique_ptr<device::TurnTaker> taker;
  int priority = 0;  ///< priority of requests that name none
};

/// Times of one pass of training.
struct TrainingTimes {
  Nanoseconds waited{};  ///< until it had a turn
  Nanoseconds compute{};
};

/// A stage's shard at work.
///
/// Threads: compute() from one thread at a time; everything else from any.
class StageWork {
 public:
  /// A turn of the device to run a shard, and the shard to itself. It is given back in the reverse
  /// order, so that who gets the next turn finds the shard free.
  struct Turn {
    std::shared_ptr<LoadedShard> shard;
    device::DeviceScheduler::Turn cores;
    LoadedShard::Use use;
  };

  /// Parts of outputs that are ready early go to `send_part`, if `has_room` then says that it would
  /// not wait. Both are called by compute(). `context` outlives this.
  StageWork(const StageContext& context, std::shared_ptr<LoadedShard> shard, StageTurns turns,
            EarlyParts::HasRoom has_room, EarlyParts::Send send_part);

  /// Computes what the item asks for, in place, and takes its times. Waits for a turn of the device
  /// unless it is given one. A request that fails becomes an error, with this stage's name; so does
  /// one whose deadline passes before its turn. Errors and the end pass as they are.
  void compute(StageItem& item, std::optional<Turn> turn = std::nullopt);
  /// Returns a turn to compute the item if the device gives one at once, and the shard is free.
  std::optional<Turn> try_turn(const StageItem& item);
  /// Calls `pass` with what trains the shard, in a turn of the device. Fails: as TurnTaker::take
  /// and LoadedShard::train do.
  Expected<TrainingTimes> train(const std::function<Expected<>(runtime::Trainer&)>& pass);
  /// Wakes a request that waits for its turn. It fails, and so does every later one.
  void close();
  /// Lets others compute although a run of this stage, which is closed, does not end.
  void let_go() { turns_.taker->let_go(); }
  /// Makes a run for this stage that is under way fail soon, if it is in a loop of the shard.
  void stop();

  std::shared_ptr<LoadedShard> shard() const;
  /// Runs another shard from the next request on. Returns the one before: freeing it may take a
  /// while.
  std::shared_ptr<LoadedShard> change(std::shared_ptr<LoadedShard> shard);

 private:
  device::TurnRequest turn_of(const StageItem& item, const LoadedShard& shard) const;
  /// Waits for a turn and for the shard. Fails: as TurnTaker::take does.
  Expected<Turn> take_turn(const device::TurnRequest& request, std::shared_ptr<LoadedShard> shard);
  /// Waits for a turn, and takes the item's time until then. Fails: as take_turn() does.
  Expected<Turn> wait_for_turn(StageItem& item, std::shared_ptr<LoadedShard> shard);
  /// Runs the shard on the inputs that the item holds. Fails: kInvalidArgument (not as many values
  /// as the shard has inputs), and as TurnTaker::take and LoadedShard::run do.
  Expected<std::vector<Value>> forward(StageItem& item, std::optional<Turn> turn);

  const StageContext& context_;
  const StageTurns turns_;
  std::stop_source closing_;
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedShard> shard_;
  const SteadyClock clock_;
  EarlyParts early_;  ///< belongs to the thread that computes
};

}  // namespace pareto::daemon
