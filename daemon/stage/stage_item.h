// Item that goes through a stage, and the queue of items that wait to leave it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"
#include "core/wire/message.h"

namespace pareto::daemon {

/// A message on its way through a stage: a request, a result or a part of one, an error, the end.
struct StageItem {
  wire::Message message;
  wire::StageTimes times{};  ///< this stage's, without encode and send
  TimePoint queued{};        ///< when it had been received: from then on it waits
  std::uint64_t bytes = 0;   ///< about what it holds
  Deadline deadline{};       ///< after it the result is of no use, by this device's clock

  static std::uint64_t bytes_of(const StageItem& item) { return item.bytes; }
};

/// Makes an item of a request that stage number `stage` received.
StageItem item_of(transport::Received received, std::uint32_t stage);

/// Results that wait to be sent, in the order in which they leave.
///
/// Threads: one pushes; one pops, and says when it has sent; the other calls from any.
class SendQueue {
 public:
  /// `capacity` counts items; together they hold at most `bytes`, unless one alone holds more.
  SendQueue(std::size_t capacity, std::uint64_t bytes)
      : items_(capacity, {bytes, StageItem::bytes_of}) {}

  /// Waits for room. Returns false if the queue is closed: the item is then dropped.
  bool push(StageItem item) {
    ++unsent_;
    return items_.push(std::move(item)).has_value();
  }
  /// Returns whether nothing waits. push() then takes an item of any size at once, if only the
  /// thread that pushes asks.
  bool empty() const { return items_.size() == 0; }
  /// Waits for an item. Fails: kClosed.
  Expected<StageItem> pop() { return items_.pop(); }
  /// Says that the item popped last has been sent.
  void sent() { --unsent_; }
  /// Returns whether all that was pushed has been sent. Then the thread that pushes may send the
  /// next item itself, and order stays.
  bool idle() const { return unsent_ == 0; }
  /// Wakes both threads.
  void close() { items_.close(); }

 private:
  BoundedQueue<StageItem> items_;
  std::atomic<std::uint64_t> unsent_{0};
};

}  // namespace pareto::daemon
