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
    kNone,
    kNumber,    ///< a whole number
    kTuple,     ///< a tuple
    kList,      ///< a list
    kFunction,  ///< what can be called; an object that is about to be filled, too
    kStorage,   ///< a storage
    kTensor,    ///< a tensor
  };

  /// Text of a string, a function's name ("torch._utils\nf"), or the record of a storage.
  std::string_view text{};
  /// A whole number; elements of a storage or a tensor; elements that are known of a list, which
  /// are those that it got first.
  std::int64_t number = 0;
  std::uint64_t parts = 1;  ///< itself and all that it holds, in each place that holds it
  std::uint32_t depth = 0;
  std::uint32_t first = 0;  ///< place of the first element, or of what it is made of
  std::uint32_t count = 0;  ///< elements of a list or a tuple; parts that it is made of
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
  /// Puts elements into a list. They were taken from a stack, too.
  void extend(PickledValue& list, std::span<const Id> elements);
  PickledValue& operator[](Id id) { return values_[id]; }
  const PickledValue& operator[](Id id) const { return values_[id]; }
  /// Returns an element of a tuple or a list, or a part of what a tensor or a storage is made of;
  /// null if it is not known.
  const PickledValue* element(const PickledValue& whole, std::size_t index) const;

 private:
  std::vector<PickledValue> values_{1};
  std::vector<Id> elements_;
};

/// Places in what a tensor is made of. If channels have scales of their own, those are a tuple with
/// the axis of the channels.
enum TensorPlace : std::size_t {
  kStoragePlace,
  kOffsetPlace,
  kSizesPlace,
  kStridesPlace,
  kScalesPlace,
};
/// Places in a tuple of scales: how they are applied, and what follows.
enum ScalesPlace : std::size_t { kSchemePlace, kScalePlace, kZeroPointPlace, kAxisPlace };

/// Returns the number of elements of a tensor that is made of `arguments`: a storage, an offset,
/// sizes, strides and, if it is quantised, its scales. Fails: kCorrupt (one of these is not known;
/// it is larger than its storage, or has fewer scales than channels).
Expected<std::int64_t> elements_of_tensor(const PickledValues& values,
                                          const PickledValue& arguments, bool quantised);

}  // namespace pareto::runtime
