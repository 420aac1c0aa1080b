// Packed convolutions and linear layers in the pickles of an archive. LibTorch takes their parts
// without a look at how many there are, and divides by their steps, groups and sizes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "runtime/archive/pickled_values.h"

namespace pareto::runtime {

/// Kind of a convolution, by which its settings are checked.
struct ConvolutionKind {
  std::size_t dimensions = 2;  ///< 2 or 3: those of its pictures
  bool has_scales = false;     ///< true if each channel of the weight has a scale

  bool operator==(const ConvolutionKind&) const = default;
};
/// Convolutions by the records of their settings.
using ConvolutionSettings = std::map<std::string, ConvolutionKind, std::less<>>;

/// Checks what an object is made of if its class, as a pickle names it, is one of packed layers:
/// - A convolution's parts have been "2", a tensor of settings and one of weights, and a bias since
///   PyTorch 1.6. It notes where the settings are.
/// - Weights have elements. If they have several scales, those are of their outputs.
/// - A bias has float32 numbers, one behind the other.
///
/// Fails: kCorrupt (other parts; settings that are not a record of their own).
Expected<> check_packed_layer(const PickledValues& values, const PickledValue& state,
                              std::string_view class_name, ConvolutionSettings& settings);

/// Checks a record of settings: little-endian int16. Fails: kCorrupt (a step, a distance of taps or
/// a number of groups below 1, a negative padding, too few; transposed layers whose kernels read
/// outside).
Expected<> check_convolution_settings(std::string_view record, const ConvolutionKind& kind);

}  // namespace pareto::runtime
