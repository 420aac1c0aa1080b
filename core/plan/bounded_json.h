// Reads JSON of a peer or a file without letting it take more memory than its use could need.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"

namespace pareto::plan {

/// The most values of a document, those in lists and objects included. A manifest has a dozen for
/// each weight. A value takes up to some 100 bytes, however few its text has.
inline constexpr std::size_t kMostJsonValues = std::size_t{1} << 19;
inline constexpr int kDeepestJson = 64;

/// Parses a text into `Json`, nlohmann's or its ordered kind. Throws: as Json::parse. Fails:
/// kInvalidArgument (more than kMostJsonValues, nested deeper than kDeepestJson), and stops there.
template <typename Json>
Expected<Json> parse_bounded(const std::string& text) {
  struct TooMuch {
    Error why;
  };
  std::size_t values = 0;
  const auto count = [&](int depth, typename Json::parse_event_t event, Json& /*parsed*/) {
    using Event = typename Json::parse_event_t;
    if (depth > kDeepestJson) {
      throw TooMuch{{ErrorCode::kInvalidArgument,
                     fmt::format("it is nested deeper than {} levels", kDeepestJson)}};
    }
    if (event != Event::object_end && event != Event::array_end && ++values > kMostJsonValues) {
      throw TooMuch{{ErrorCode::kInvalidArgument,
                     fmt::format("it has more than {} values", kMostJsonValues)}};
    }
    return true;
  };
  try {
    return Json::parse(text, count);
  } catch (const TooMuch& limit) {
    return tl::unexpected(limit.why);
  }
}

}  // namespace pareto::plan
