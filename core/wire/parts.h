// A request whose values travel as they are computed, not all at the end.
//
//   kPart(position, value) · kPart(position, value) … kValues: all, but None at those positions.
//                                                     kError: forget the parts
//
// All have the same request number; sequence counts the parts from 0, that of kValues is their
// number.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/wire/message.h"

namespace pareto::wire {

/// A value that is ready less than this before the last one travels with it. A message of its own
/// costs some 50 µs, and has to be worth it.
inline constexpr Nanoseconds kWorthAPart = std::chrono::microseconds(200);

/// Returns a part of a request. `position` is that in the Tuple that the request's kValues will
/// carry.
Message part_message(std::uint64_t pipeline, std::uint64_t request, std::uint32_t sequence,
                     std::size_t position, Value value);

/// Puts the requests of one link together again. Holds no more than one request's parts.
/// Threads: one owner.
class PartAssembler {
 public:
  /// values: how many a request has at most; parts at other positions are refused.
  explicit PartAssembler(std::size_t values) : values_(values) {}

  /// Sets the number of values of the requests to come.
  void expect(std::size_t values) { values_ = values; }

  /// Keeps a part of the request that is coming in. Fails: kCorrupt (no part, one out of order, of
  /// another request than those before it, at a position that came already).
  Expected<> keep(Message part);
  /// Puts what was kept into the message that closes the request: kValues, or kError, which needs
  /// nothing. Fails: kCorrupt (another request, another number of parts, a body with no room for
  /// them).
  Expected<> complete(Message& message);

 private:
  struct Part {
    std::size_t position = 0;
    Value value;
  };
  std::size_t values_;
  std::uint64_t request_ = 0;
  std::vector<Part> parts_;
};

}  // namespace pareto::wire
