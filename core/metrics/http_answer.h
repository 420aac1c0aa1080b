// The little of HTTP that a scrape takes, as a function of bytes: what comes before an empty line
// in, a whole answer out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pareto::metrics {

/// Returns the answer to a request that begins with `head`, its first lines up to the empty one.
/// GET /metrics is answered with what `metrics` returns, GET / with a page that links there.
/// Anything else is an error: 400 (not HTTP), 404, 405 (another method), 505 (another version). Of
/// the bytes, only the first line is looked at.
std::string http_answer(std::string_view head, const std::function<std::string()>& metrics);

/// Returns the answer of an error's number, and why in a line: 403 is a client who may not come,
/// 431 a head that is too long, 500 our own fault.
std::string http_error(int status, std::string_view why = {});

}  // namespace pareto::metrics
