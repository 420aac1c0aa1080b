// Values of a pickle, as far as its check needs them, and the tensors among them. LibTorch takes a
// tensor's offset, sizes and strides as they are written, and uses it before anything else can look
// at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::runtime {

/// More sizes than a tensor of any model has.
inline constexpr std::size_t kMostDimensions = 64;

/// A value, of which little is known.
struct PickledValue {
  enum class Kind : std::uint8_t {
    kOther,
    kNumber,    ///< a whole number
    kTuple,     ///< a tuple, whose elements are known
    kList,      ///< a list of that many elements
    kFunction,  ///< what can be called; an object that is about to be filled, too
    kStorage,   ///< a storage of that many elements
    kTensor,    ///< a tensor of that many elements
  };

  std::string_view text{};  ///< text of a string, or a function's name: "torch._utils\nf"
  std::int64_t number = 0;
  std::uint64_t parts = 1;  ///< itself and all that it holds, in each place that holds it
  std::uint32_t depth = 0;
  std::uint32_t first = 0;  ///< place of a tuple's first element
  std::uint32_t count = 0;  ///< how many elements a tuple or a list has
  Kind kind = Kind::kOther;
  bool done = false;  ///< true if others may hold it: nothing is put into it any more
};

/// All values that a pickle made. They take a few times the bytes of the pickle at most.
/// Threads: one owner.
class PickledValues {
 public:
  using Id = std::uint32_t;

  Id add(const PickledValue& value);
  /// Adds a tuple of these elements. They were taken from a stack, so that each counts once.
  Id add_tuple(PickledValue tuple, std::span<const Id> elements);
  PickledValue& operator[](Id id) { return values_[id]; }
  const PickledValue& operator[](Id id) const { return values_[id]; }
  /// Returns an element of a tuple; null if it has fewer, or is no tuple.
  const PickledValue* element(const PickledValue& tuple, std::size_t index) const;

 private:
  std::vector<PickledValue> values_{1};
  std::vector<Id> elements_;
};

/// Returns the number of elements of a tensor that is made of `arguments`: a storage, an offset,
/// sizes, strides and, if it is quantised, its scales. Fails: kCorrupt (one of these is not known;
/// it is larger than its storage, or has fewer scales than channels).
Expected<std::int64_t> elements_of_tensor(const PickledValues& values,
                                          const PickledValue& arguments, bool quantised);

/// Checks what a packed convolution is made of. LibTorch takes its parts without a look at how many
/// there are: a tensor and five more in the form of its version 1; else a version, two tensors or
/// more, and a bias. Fails: kCorrupt.
Expected<> check_packed_convolution(const PickledValues& values, const PickledValue& state);

}  // namespace pareto::runtime
