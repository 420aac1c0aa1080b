#include "client/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>

namespace pareto::client::commands {
namespace {

constexpr int kBar = 24;

std::string duration_text(double exact_seconds) {
  const auto seconds = std::lround(exact_seconds);
  return seconds < 90 ? fmt::format("{} s", seconds) : fmt::format("{} min", (seconds + 30) / 60);
}

// Logs are kept and read by people: a long sweep is some hundred lines.
constexpr Nanoseconds kShortestPause = std::chrono::seconds(10);
constexpr Nanoseconds kLongestPause = std::chrono::minutes(1);
const SteadyClock kRealClock;

/// Returns the first word that has letters: "round" of "round 2/3", "of" of "12 of 90 plans
/// measured".
std::string first_word(const std::string& phase) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto begin = std::ranges::find_if(phase, is_letter);
  return {begin, std::find(begin, phase.end(), ' ')};
}

}  // namespace

Progress::Progress(std::ostream& err, int columns) : Progress(err, columns, kRealClock) {}

Progress::Progress(std::ostream& err, int columns, const Clock& clock)
    : err_(err), columns_(columns), clock_(clock), begun_(clock.now()) {}

Progress::~Progress() { clear(); }

std::string Progress::time_text(std::optional<double> most_left_s) const {
  if (most_left_s) return fmt::format("at most {} left", duration_text(*most_left_s));
  return fmt::format("{} so far", duration_text(to_seconds(clock_.now() - begun_)));
}

void Progress::show(std::size_t done, std::size_t total, const std::string& phase,
                    const std::string& now, std::optional<double> most_left_s) {
  total = std::max(total, done);
  const std::string time_said = time_text(most_left_s);
  // A budget is what is counted then, and it is time.
  const std::string counts = fmt::format("{}/{}{}", done, total, most_left_s ? " s" : "");
  if (columns_ == 0) {
    const TimePoint time = clock_.now();
    const std::string doing = first_word(phase);
    const auto pause = [&] {
      return std::clamp<Nanoseconds>(*said_ - begun_, kShortestPause, kLongestPause);
    };
    if (said_ && time - *said_ < pause() && doing == doing_) return;
    said_ = time;
    doing_ = doing;
    err_ << fmt::format("{} ({} done, {})\n", phase, counts, time_said) << std::flush;
    return;
  }
  const int filled = total == 0 ? 0 : static_cast<int>(done * kBar / total);
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {}, {}  {}", "", filled, "", kBar - filled,
                                 counts, time_said, now);
  if (static_cast<int>(line.size()) > columns_ - 1)
    line.resize(static_cast<std::size_t>(columns_ - 1));
  err_ << "\r\x1b[K" << line << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) err_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace pareto::client::commands
