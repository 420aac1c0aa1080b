// Queue of future events, soonest first: a heap with 16 bytes an event and four children a node. A
// node's children share a cache line, and a heap of tens of thousands stays in the second-level
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pareto::simulation {

struct Event {
  std::int64_t time = 0;  ///< ns, at least 0
  /// Order among equal times: the smaller code comes first, whatever came in first.
  std::uint64_t code = 0;
};

/// A heap of events.
///
/// Threads: one owner.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Event top() const { return event_of(heap_.front()); }
  /// Returns the i-th of them, in no order.
  Event at(std::size_t i) const { return event_of(heap_[i]); }

  void push(Event event) {
    heap_.push_back(key_of(event));
    rise(heap_.size() - 1, heap_.back());
  }

  /// Takes the top away. The last one takes its place: since that belongs far below, the hole sinks
  /// to the bottom without asking it.
  void pop() {
    const Key last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return;
    std::size_t hole = 0;
    for (std::size_t first = 1; first < size; first = hole * kChildren + 1) {
      std::size_t least = first;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      for (std::size_t child = first + 1; child < end; ++child) {
        least = heap_[child] < heap_[least] ? child : least;
      }
      heap_[hole] = heap_[least];
      hole = least;
    }
    rise(hole, last);
  }

 private:
  /// Time, then code: one number, so that a comparison is no branch.
  __extension__ using Key = unsigned __int128;
  static constexpr std::size_t kChildren = 4;

  static Key key_of(Event event) {
    return static_cast<Key>(static_cast<std::uint64_t>(event.time)) << 64 | event.code;
  }
  static Event event_of(Key key) {
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(key >> 64)),
            static_cast<std::uint64_t>(key)};
  }

  void rise(std::size_t hole, Key key) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (key >= heap_[parent]) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = key;
  }

  std::vector<Key> heap_;
};

}  // namespace pareto::simulation
