#include "client/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>

namespace pareto::client {
namespace {

constexpr int kBar = 24;
constexpr std::size_t kFewestUnits = 3;
constexpr double kSteady = 1.5;
/// So many seconds more or less are no matter.
constexpr double kLittleSeconds = 10;

std::string time_text(double of_seconds) {
  const auto seconds = std::lround(of_seconds);
  return seconds < 90 ? fmt::format("{} s left", seconds)
                      : fmt::format("{} min left", (seconds + 30) / 60);
}

// Logs are kept and read by people: a long sweep is some hundred lines.
constexpr std::chrono::minutes kBetweenLines{1};
const SteadyClock kRealClock;

/// Returns the first word that has letters: "round" of "round 2/3", "of" of "12 of 90 plans measured".
std::string first_word(const std::string& phase) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto begin = std::ranges::find_if(phase, is_letter);
  return {begin, std::find(begin, phase.end(), ' ')};
}

}  // namespace

void Pace::see(TimePoint now, std::size_t done) {
  if (!first_ || done < done_) {
    first_ = done;
    seen_.clear();
  } else if (done > done_) {
    seen_.push_back({now, done});
  }
  done_ = done;
}

double Pace::seconds_a_unit(const Seen& since, TimePoint now) const {
  return to_seconds(now - since.time) / static_cast<double>(done_ - since.done);
}

const Pace::Seen& Pace::seen_at(std::size_t done) const {
  return *std::ranges::find_if(seen_, [&](const Seen& at) { return at.done >= done; });
}

std::optional<double> Pace::seconds_left(TimePoint now, std::size_t total) const {
  if (seen_.empty()) return {};
  if (done_ >= total) return 0;
  if (done_ < seen_.front().done + kFewestUnits) return {};
  const std::size_t half = (seen_.front().done + done_) / 2;
  const Seen& later = seen_at(half);
  const Seen& last = seen_at((half + done_) / 2);
  if (last.done == done_) return {};
  const TimePoint ended = seen_.back().time;
  const double of_later = seconds_a_unit(later, ended);
  const double of_last = seconds_a_unit(last, ended);
  const auto units = static_cast<double>(total - done_);
  const bool steady = of_last <= kSteady * of_later && of_later <= kSteady * of_last;
  if (!steady && std::abs(of_last - of_later) * units > kLittleSeconds) return {};
  return std::max(0.0, of_later * units - to_seconds(now - ended));
}

Progress::Progress(std::ostream& err, int columns) : Progress(err, columns, kRealClock) {}

Progress::Progress(std::ostream& err, int columns, const Clock& clock)
    : err_(err), columns_(columns), clock_(clock) {}

Progress::~Progress() { clear(); }

std::string Progress::time_left(std::size_t total, std::optional<double> most_left_s) const {
  if (most_left_s) return "at most " + time_text(*most_left_s);
  const auto left = pace_.seconds_left(clock_.now(), total);
  return left ? time_text(*left) : "";
}

void Progress::show(std::size_t done, std::size_t total, const std::string& phase,
                    const std::string& now, std::optional<double> most_left_s) {
  total = std::max(total, done);
  pace_.see(clock_.now(), done);
  const std::string left = time_left(total, most_left_s);
  const std::string counts = fmt::format("{}/{}", done, total);
  if (columns_ == 0) {
    const TimePoint time = clock_.now();
    const std::string doing = first_word(phase);
    if (said_ && time - *said_ < kBetweenLines && doing == doing_) return;
    said_ = time;
    doing_ = doing;
    err_ << fmt::format("{} ({} done{}{})\n", phase, counts, left.empty() ? "" : ", ", left)
         << std::flush;
    return;
  }
  const int filled = total == 0 ? 0 : static_cast<int>(done * kBar / total);
  std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {} {}  {}", "", filled, "", kBar - filled, counts, left, now);
  if (static_cast<int>(line.size()) > columns_ - 1)
    line.resize(static_cast<std::size_t>(columns_ - 1));
  err_ << "\r\x1b[K" << line << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) err_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace pareto::client
