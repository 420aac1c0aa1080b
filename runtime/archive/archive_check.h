// Checks a TorchScript archive before LibTorch reads it, because some bytes would end the process.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks the archive's code and values before LibTorch reads them:
/// - They nest no deeper than a stack bears (code_nesting.h, class_bodies.h, definition_chain.h).
/// - No value is taken where there is none (pickle_check.h).
/// - Records of weights are as large as the tensors in them say, and tensors lie within them.
/// - It is no file of LibTorch's format for phones, which is read without any check.
///
/// Fails: kCorrupt. An archive that cannot be read at all passes: LibTorch says why it refuses it.
Expected<> check_archive(std::string_view archive);

/// Bytes of all code of a shard. LibTorch takes some seconds to parse as many.
inline constexpr std::uint64_t kMostCodeBytes = std::uint64_t{16} << 20;

/// Checks the archive of a shard, which somebody else made, before LibTorch reads any of it:
/// - It can be read in one way only, and is as large as it says (zip_records.h). It begins with a
///   record.
/// - It has the records of a TorchScript module, and no others.
/// - What check_archive() checks.
/// - Its code calls nothing but operators that shards may use and its own functions
///   (code_calls.h).
/// Fails: kCorrupt; kPermission, with the operator's name and the line.
Expected<> check_shard_archive(std::string_view archive);

/// Hides from LibTorch the records that say which line of Python each line of code came from. It
/// uses numbers in them as indices without a look at their bounds. Its errors then name lines of
/// the archive. Fails: as read_zip_list (zip_records.h).
Expected<> hide_debug_records(std::span<char> archive);

}  // namespace pareto::runtime
