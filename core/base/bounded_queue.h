// The one way work crosses threads. A full queue blocks the producer: that is the backpressure, all
// the way to the source.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto {

/// A queue, first in, first out, of at most `capacity` items, and at most a number of bytes if it
/// knows what an item holds. Places in it are made once and used again: passing items on takes
/// nothing from the heap.
///
/// Threads: any number of producers and consumers; it outlives every call, a waker's too. close()
/// wakes all of them: afterwards push fails with kClosed, and pop hands out what is left before it
/// fails with kClosed.
template <typename T>
class BoundedQueue {
 public:
  /// The bytes that all items together may hold. One that holds more by itself has room while there
  /// is no other.
  struct Budget {
    std::uint64_t bytes = UINT64_MAX;
    std::uint64_t (*of)(const T& item) = [](const T&) { return std::uint64_t{0}; };
  };

  /// capacity >= 1
  explicit BoundedQueue(std::size_t capacity, Budget budget = {})
      : capacity_(capacity == 0 ? 1 : capacity), budget_(budget) {}

  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Waits for room. Fails: kTimeout, kClosed (the item is then dropped).
  Expected<> push(T item, Deadline deadline = std::nullopt) {
    {
      std::unique_lock lock(mutex_);
      const std::uint64_t bytes = budget_.of(item);
      const auto has_room = [&] {
        return items_.size() < capacity_ && (items_.empty() || bytes_ + bytes <= budget_.bytes);
      };
      if (!wait(lock, not_full_, deadline, [&] { return closed_ || has_room(); })) {
        return fail(ErrorCode::kTimeout, "the queue stayed full");
      }
      if (closed_) return fail(ErrorCode::kClosed, "the queue is closed");
      bytes_ += bytes;
      if (free_.empty()) {
        items_.push_back(std::move(item));
      } else {
        free_.front() = std::move(item);
        items_.splice(items_.end(), free_, free_.begin());
      }
    }
    // Not under the lock: who wakes on this core would run at once, only to wait for it.
    not_empty_.notify_one();
    return {};
  }

  /// Waits for an item. Fails: kTimeout, kClosed (only once it is empty).
  Expected<T> pop(Deadline deadline = std::nullopt) {
    std::unique_lock lock(mutex_);
    if (!wait(lock, not_empty_, deadline, [&] { return closed_ || !items_.empty(); })) {
      return fail(ErrorCode::kTimeout, "the queue stayed empty");
    }
    if (items_.empty()) return fail(ErrorCode::kClosed, "the queue is closed");
    T item = std::move(items_.front());
    free_.splice(free_.begin(), items_, items_.begin());
    bytes_ -= budget_.of(item);
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  template <typename Ready>
  static bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                   const Deadline& deadline, Ready ready) {
    if (deadline) return condition.wait_until(lock, *deadline, ready);
    condition.wait(lock, ready);
    return true;
  }

  const std::size_t capacity_;
  const Budget budget_;
  std::uint64_t bytes_ = 0;  ///< bytes that the items hold
  mutable std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::list<T> items_;
  std::list<T> free_;  ///< places whose items were taken out
  bool closed_ = false;
};

}  // namespace pareto
