// Keeps the parts of messages that are done for messages to come. The memory of tensors has its own
// pool: core/tensor/tensor_pool.h.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/vector_pool.h"
#include "core/wire/message.h"

namespace pareto::wire {

/// Memory for a link's received messages. They take timelines, containers and shapes from it, and
/// bring them back wherever and whenever they end (Message::pool). A steady stream of messages
/// takes nothing from the heap, except strings.
///
/// Owned by the decoder and the messages together. Threads: any.
struct MessagePool {
  /// The most idle bytes of each kind; a message of hundreds of tensors keeps some 100 KiB.
  static constexpr std::size_t kMaxIdleBytes = std::size_t{256} << 10;

  /// Takes a tree apart and destroys it.
  void put(Value value);

  VectorPool<StageTimes> timelines{kMaxIdleBytes};
  VectorPool<Value> values{kMaxIdleBytes};  ///< values of lists and tuples
  VectorPool<std::pair<Value, Value>> pairs{kMaxIdleBytes};
  VectorPool<std::int64_t> shapes{kMaxIdleBytes};
};

}  // namespace pareto::wire
