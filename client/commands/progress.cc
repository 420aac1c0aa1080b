#include "client/commands/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace pareto::client {
namespace {

constexpr int kBar = 24;

}  // namespace

void Pace::see(TimePoint now, std::size_t done) {
  if (!start_ || done < done_) start_ = {now, done};
  done_ = done;
}

std::optional<double> Pace::seconds_left(TimePoint now, std::size_t total) const {
  if (!start_ || done_ == start_->done) return {};
  return to_seconds(now - start_->time) * static_cast<double>(std::max(total, done_) - done_) /
         static_cast<double>(done_ - start_->done);
}

Progress::Progress(std::ostream& err, int columns) : err_(err), columns_(columns) {}

Progress::~Progress() { clear(); }

std::string Progress::time_left(std::size_t total) const {
  const auto left = pace_.seconds_left(std::chrono::steady_clock::now(), total);
  if (!left) return "";
  const auto seconds = std::lround(*left);
  return seconds < 90 ? fmt::format("{} s left", seconds)
                      : fmt::format("{} min left", (seconds + 30) / 60);
}

void Progress::show(std::size_t done, std::size_t total, const std::string& phase,
                    const std::string& now) {
  total = std::max(total, done);
  pace_.see(std::chrono::steady_clock::now(), done);
  const std::string left = time_left(total);
  const std::string counts = fmt::format("{}/{}", done, total);
  if (columns_ == 0) {
    const std::size_t tenth = total == 0 ? 0 : done * 10 / total;
    if (phase == phase_ && tenth == tenth_) return;
    phase_ = phase;
    tenth_ = tenth;
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
