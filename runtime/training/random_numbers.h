// Random numbers that travel from stage to stage, so that a pipeline draws those that the whole
// model would draw. It includes LibTorch: include it only in sources of runtime.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <mutex>

#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::runtime {

/// The generator of a device, which draws what a Value says next: an int64 is a seed, a tensor
/// uint8 its state. LibTorch has one generator for all of a process, so there is one turn at a
/// time.
///
/// Threads: one.
class RandomTurn {
 public:
  /// Waits for the turn. Throws std::runtime_error if the value is neither, c10::Error if the state
  /// is none of this generator.
  RandomTurn(const Value& random, c10::Device device);
  /// Returns the state to go on from. Fails: kExhausted.
  Expected<Value> state();

 private:
  std::unique_lock<std::mutex> turn_;
  at::Generator generator_;
};

}  // namespace pareto::runtime
