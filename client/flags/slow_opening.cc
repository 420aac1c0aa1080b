#include "client/flags/slow_opening.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <utility>

namespace pareto::client {

namespace {

constexpr std::chrono::seconds kAgain{10};

}  // namespace

SlowOpening::SlowOpening(std::ostream& err, std::string what, std::chrono::milliseconds patience)
    : err_(err),
      what_(std::move(what)),
      patience_(patience),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void SlowOpening::watch(const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (auto next = patience_; !stop.stop_requested(); next += kAgain) {
    ended_.wait_until(lock, stop, start + next, [] { return false; });
    if (stop.stop_requested()) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    err_ << fmt::format("{} ({:.0f} s so far)\n", what_, passed.count()) << std::flush;
  }
}

}  // namespace pareto::client
