#include "core/plan/mahimahi.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/base/file.h"

namespace pareto::plan {
namespace {

constexpr std::uint64_t kPacketBits = std::uint64_t{1500} * 8;
constexpr std::uint64_t kStepMs = 100;
constexpr std::uint64_t kLongestMs = 9'000'000;
constexpr std::uint64_t kMostBitsPerSecond = 100'000'000'000;
constexpr std::uint64_t kLeastBitsPerSecond = 8'000;
constexpr std::uint64_t kMaxFile = 256 << 20;

}  // namespace

Expected<RateTrace> read_mahimahi(const std::filesystem::path& path) {
  PARETO_ASSIGN(const std::string text, read_file(path, kMaxFile));
  return parse_mahimahi(text, path.string());
}

Expected<RateTrace> parse_mahimahi(std::string_view text, std::string_view name) {
  std::vector<std::uint64_t> packets;  // of each step
  std::uint64_t last_ms = 0;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string_view word = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (word.ends_with('\r')) word.remove_suffix(1);
    std::uint64_t at_ms = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), at_ms);
    if (status != std::errc() || end != word.data() + word.size() || at_ms < last_ms ||
        at_ms > kLongestMs) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}:{}: a line is the millisecond at which a packet may pass, not before that of "
                  "the line above, at most {}",
                  name, line, kLongestMs);
    }
    last_ms = at_ms;
    packets.resize(at_ms / kStepMs + 1);
    ++packets.back();
  }
  if (last_ms == 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: the trace has no duration", name);
  }
  // The last packet passes as the trace begins again.
  if (last_ms % kStepMs == 0) {
    packets[packets.size() - 2] += packets.back();
    packets.pop_back();
  }
  RateTrace trace;
  trace.period = std::chrono::milliseconds(last_ms);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint64_t width_ms = std::min(kStepMs, last_ms - i * kStepMs);
    const std::uint64_t rate =
        std::max(packets[i] * kPacketBits * 1000 / width_ms, kLeastBitsPerSecond);
    if (rate > kMostBitsPerSecond) {
      return fail(ErrorCode::kInvalidArgument, "{}: more than 100 gbit/s from {} ms on", name,
                  i * kStepMs);
    }
    if (!trace.rows.empty() && trace.rows.back().bits_per_second == rate) continue;
    trace.rows.push_back({std::chrono::milliseconds(i * kStepMs), {}, rate});
  }
  return trace;
}

}  // namespace pareto::plan
