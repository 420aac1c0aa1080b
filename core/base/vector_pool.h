// Memory for vectors that come and go in the same sizes, as the parts of messages do.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace pareto {

/// Vectors that nobody needs any more, kept for those to come. Any vector may be put, wherever its
/// memory is from; one that is taken belongs to the taker, who need not bring it back. What lies
/// idle is bounded.
///
/// Threads: any.
template <typename T>
class VectorPool {
 public:
  explicit VectorPool(std::size_t max_idle_bytes) : max_idle_bytes_(max_idle_bytes) {}
  VectorPool(const VectorPool&) = delete;
  VectorPool& operator=(const VectorPool&) = delete;

  /// Returns an empty vector with room for `size` elements: the idle one that fits best and is not
  /// twice as large, else a new one.
  std::vector<T> take(std::size_t size) {
    std::vector<T> taken;
    if (size == 0) return taken;
    {
      const std::lock_guard lock(mutex_);
      auto best = idle_.end();
      std::size_t best_capacity = 2 * size;
      for (auto it = idle_.end(); it != idle_.begin() && best_capacity > size;) {
        --it;
        if (it->capacity() < size || it->capacity() >= best_capacity) continue;
        best = it;
        best_capacity = it->capacity();
      }
      if (best != idle_.end()) {
        taken = std::move(*best);
        *best = std::move(idle_.back());
        idle_.pop_back();
        idle_bytes_ -= best_capacity * sizeof(T);
      }
    }
    taken.reserve(size);
    return taken;
  }

  /// Destroys its elements here, on the caller's thread.
  void put(std::vector<T> used) {
    used.clear();
    if (used.capacity() == 0) return;
    const std::size_t bytes = used.capacity() * sizeof(T);
    const std::lock_guard lock(mutex_);
    if (idle_.size() == kMostIdle || bytes > max_idle_bytes_ - idle_bytes_) return;
    idle_.push_back(std::move(used));
    idle_bytes_ += bytes;
  }

  std::size_t idle_bytes() const {
    const std::lock_guard lock(mutex_);
    return idle_bytes_;
  }

 private:
  /// A taker looks through all of them at worst.
  static constexpr std::size_t kMostIdle = 1024;

  const std::size_t max_idle_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::vector<T>> idle_;
  std::size_t idle_bytes_ = 0;
};

}  // namespace pareto
