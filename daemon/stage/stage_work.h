// Computing part of a stage: runs its shard on a message.
//
//   StageItem (a request's inputs) ──compute──▶ the same item (its outputs, or its error)
//                                       └─early──▶ parts of the outputs, while the shard still runs
//
// The kind of a message says which pass it asks for, its number whose pass it is. There is one pass
// today: values go forward. Another one is one more kind in compute(), and finds by the request's
// number what the first one kept.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tensor/value.h"
#include "daemon/stage/early_parts.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_item.h"

namespace pareto::daemon {

/// A stage's shard at work.
///
/// Threads: compute() from one thread at a time; everything else from any.
class StageWork {
 public:
  /// Parts of outputs that are ready early go to `send_part`, if `has_room` then says that it would
  /// not wait. Both are called by compute(). `context` outlives this.
  StageWork(const StageContext& context, std::shared_ptr<LoadedShard> shard,
            EarlyParts::HasRoom has_room, EarlyParts::Send send_part);

  /// Computes what the item asks for, in place, and takes its times. A request that fails becomes
  /// an error, with this stage's name. Errors and the end pass as they are.
  void compute(StageItem& item);
  /// Makes a run for this stage that is under way fail soon, if it is in a loop of the shard.
  void stop();

  std::shared_ptr<LoadedShard> shard() const;
  /// Runs another shard from the next request on. Returns the one before: freeing it may take a
  /// while.
  std::shared_ptr<LoadedShard> change(std::shared_ptr<LoadedShard> shard);

 private:
  /// Runs the shard on the inputs that the item holds. Fails: kInvalidArgument (not as many values
  /// as the shard has inputs), and as LoadedShard::run does.
  Expected<std::vector<Value>> forward(StageItem& item);

  const StageContext& context_;
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedShard> shard_;
  const SteadyClock clock_;
  EarlyParts early_;  ///< belongs to the thread that computes
};

}  // namespace pareto::daemon
