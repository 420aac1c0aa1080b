// Errors as values. What can fail for reasons outside our code returns Expected<T>. The caller acts
// on the code, and adds context on the way up. The one line that is printed at the top then reads
// like a path:
//   deploying plan mobilenetv2@features.7: stage 1 on pi-2: loading shard: digest mismatch
//
// Bytes from peers and files, user input and foreign libraries end here, never in an assertion.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace pareto {

/// The error codes, on which a caller can act. The sentence next to one is for people.
enum class ErrorCode {
  kInvalidArgument,  ///< the request itself is wrong; repeating it is useless
  kNotFound,         ///< a name, file or digest that does not exist
  kCorrupt,          ///< bytes that are not what they claim to be
  kUnavailable,      ///< the peer or resource is not there now; may be tried again
  kClosed,           ///< this side or the peer closed the link or queue
  kTimeout,          ///< the deadline passed
  kExhausted,        ///< memory, disk, descriptors or a configured limit
  kPermission,       ///< the environment refuses
  kInternal,         ///< a bug, or an exception of a library that fits nothing above
};

/// Returns "invalid_argument", "not_found", …: the spelling in logs, JSON and on the wire.
std::string_view to_string(ErrorCode code);
/// Returns the code of a spelling; an unknown spelling is kInternal.
ErrorCode error_code_from_string(std::string_view name);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <typename T = void>
using Expected = tl::expected<T, Error>;

/// fail(ErrorCode::kNotFound, "no model \"{}\"", name), to be returned from a function of any
/// Expected type.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Puts "context: " before the message of a failed result; a good one passes unchanged.
template <typename T, typename... Args>
Expected<T> with_context(Expected<T> result, fmt::format_string<Args...> format, Args&&... args) {
  if (!result) {
    result.error().message =
        fmt::format(format, std::forward<Args>(args)...) + ": " + result.error().message;
  }
  return result;
}

}  // namespace pareto

#define PARETO_CONCAT_INNER(a, b) a##b
#define PARETO_CONCAT(a, b) PARETO_CONCAT_INNER(a, b)

/// Returns the error of `expression` from the enclosing function, if it has one.
#define PARETO_TRY(expression)                                     \
  do {                                                             \
    auto&& pareto_try_result = (expression);                       \
    if (!pareto_try_result) {                                      \
      return tl::unexpected(std::move(pareto_try_result).error()); \
    }                                                              \
  } while (false)

/// PARETO_ASSIGN(auto graph, load(path)): the value, or the error returned from the enclosing
/// function.
#define PARETO_ASSIGN(declaration, expression)                                         \
  auto PARETO_CONCAT(pareto_result_, __LINE__) = (expression);                         \
  if (!PARETO_CONCAT(pareto_result_, __LINE__)) {                                      \
    return tl::unexpected(std::move(PARETO_CONCAT(pareto_result_, __LINE__)).error()); \
  }                                                                                    \
  declaration = *std::move(PARETO_CONCAT(pareto_result_, __LINE__))
