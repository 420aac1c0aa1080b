#include "client/flags/latency_flag.h"

#include "core/base/clock.h"
#include "core/base/text.h"

namespace pareto::client {

Expected<double> parse_max_latency(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789.") == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "--max-latency: \"{}\" has no unit: write it as in \"{}ms\"", text, text);
  }
  PARETO_ASSIGN(const Nanoseconds latency, with_context(parse_duration(text), "--max-latency"));
  if (latency.count() <= 0) {
    return fail(ErrorCode::kInvalidArgument, "--max-latency {}: more than 0 is needed", text);
  }
  return to_milliseconds(latency);
}

}  // namespace pareto::client
