// What is to happen, the soonest first: a heap of 16 bytes an event, four children a node, so that a node's children lie in one cache line
// and a heap of tens of thousands stays in the second-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pareto::simulation {

struct Event {
  std::int64_t time = 0;   ///< ns
  std::uint64_t code = 0;  ///< of equal times the smaller code comes first, whatever came in first

  bool operator<(const Event& other) const {
    return time != other.time ? time < other.time : code < other.code;
  }
};

/// Threads: one owner.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Event& top() const { return heap_.front(); }
  const std::vector<Event>& events() const { return heap_; }  ///< all of them, in no order

  void push(Event event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!(event < heap_[parent])) break;
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = event;
  }

  /// Takes the top away.
  void pop() {
    const Event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    const std::size_t size = heap_.size();
    std::size_t place = 0;
    for (;;) {
      const std::size_t first = place * kChildren + 1;
      if (first >= size) break;
      std::size_t least = first;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < last)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = last;
  }

 private:
  static constexpr std::size_t kChildren = 4;
  std::vector<Event> heap_;
};

}  // namespace pareto::simulation
