// The byte before every node of a value tree. The numbers are part of the format. Internal to
// core/wire.
#pragma once

#include <cstdint>

namespace pareto::wire {

enum class ValueTag : std::uint8_t {
  kNone = 0,
  kUninitialized = 1,
  kBool = 2,
  kInt = 3,
  kFloat = 4,
  kString = 5,
  kList = 6,
  kTuple = 7,
  kDict = 8,
  kTensor = 9,
};

}  // namespace pareto::wire
