// Checks pickles of a TorchScript archive before LibTorch reads them. LibTorch takes values from an
// empty stack, and makes its memo as long as a number says. It frees nested values by nested calls.
// Each of these can end the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// A module inside a module adds three; several times what models have.
inline constexpr std::size_t kDeepestValue = 2000;

/// Size in bytes that the tensors of a pickle take for granted of each record that holds their
/// elements.
using ClaimedBytes = std::map<std::string, std::uint64_t, std::less<>>;

/// Checks, without making them, that the values of a pickle are there when they are taken, that
/// they nest no deeper than kDeepestValue, and that the types written in it nest no deeper than
/// code may. Fails: kCorrupt. Instructions that LibTorch does not know end the check: it refuses
/// them.
Expected<ClaimedBytes> check_values(std::string_view pickle);

}  // namespace pareto::runtime
