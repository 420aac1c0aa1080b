// Batches that a user names by the smallest and the largest: --batch-range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace pareto::client::commands {

/// --batch-range.
struct BatchRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};
/// Parses "1:64"; "" is none. Fails: kInvalidArgument naming the flag.
Expected<std::optional<BatchRange>> parse_batch_range(const std::string& text);

}  // namespace pareto::client::commands
