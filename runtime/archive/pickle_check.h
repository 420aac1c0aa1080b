// Checks pickles of a TorchScript archive before LibTorch reads them. LibTorch takes values from an
// empty stack, and makes its memo as long as a number says. It frees nested values by nested calls.
// It uses tensors without a look at their bounds. Each of these can end the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "runtime/archive/packed_layers.h"

namespace pareto::runtime {

/// A module inside a module adds three; several times what models have.
inline constexpr std::size_t kDeepestValue = 2000;

/// Values of a pickle beyond one for each of its bytes, if a value counts in each place that holds
/// it. LibTorch walks through a module in each place that holds it.
inline constexpr std::uint64_t kMostRepeatedParts = 20'000'000;

/// Size in bytes that the tensors of a pickle take for granted of each record that holds their
/// elements.
using ClaimedBytes = std::map<std::string, std::uint64_t, std::less<>>;

/// Claims of a pickle about the records that hold its tensors' elements.
struct PickleClaims {
  ClaimedBytes bytes;
  ConvolutionSettings settings;
};

/// Checks a pickle without making its values:
/// - Values must be there when they are taken, nest no deeper than kDeepestValue, and hold nothing
///   that holds them. They have few parts in common (kMostRepeatedParts).
/// - Tensors must lie within their storages (pickled_values.h).
/// - Packed layers must have their parts (packed_layers.h).
/// - What is called must have a name.
/// - The types written in it must nest no deeper than code may.
///
/// An instruction that LibTorch does not know ends the check, because LibTorch refuses it.
/// Fails: kCorrupt.
Expected<PickleClaims> check_values(std::string_view pickle);

}  // namespace pareto::runtime
