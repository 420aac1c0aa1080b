#include "coordinator/results/time_text.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <random>

namespace pareto::results {

std::string time_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string end_time_text(const std::string& started) {
  // Texts of times are ordered as times are.
  return std::max(started, time_text(std::chrono::system_clock::now()));
}

std::string make_run_id(std::chrono::system_clock::time_point time) {
  std::random_device device;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)), device() & 0xffffU);
}

}  // namespace pareto::results
