#include "core/metrics/process_metrics.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::metrics {
namespace {

constexpr std::uint64_t kLimit = 1 << 20;

std::optional<double> number(const std::string& word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

/// Word `index` of a line of words.
std::optional<double> word_of(std::string_view line, std::size_t index) {
  const auto words = split_list(line, ' ');
  if (index >= words.size()) return {};
  return number(words[index]);
}

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::optional<double> resident_bytes() {
  const auto pages = word_of(read_file("/proc/self/statm", kLimit).value_or(""), 1);
  if (!pages) return {};
  return *pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> open_descriptors() {
  double count = 0;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    ++count;
  }
  if (error || count == 0) return {};
  return count - 1;  // the folder itself was one
}

std::optional<double> most_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return static_cast<double>(limit.rlim_cur);
}

/// Seconds since 1970.
std::optional<double> start_time() {
  // The process's name, which may hold anything, ends with the last parenthesis; ticks after the
  // machine's start are word 20 behind it.
  const std::string own = read_file("/proc/self/stat", kLimit).value_or("");
  const std::size_t name_end = own.rfind(") ");
  const std::string machine = read_file("/proc/stat", kLimit).value_or("");
  const std::size_t boot = machine.find("\nbtime ");
  if (name_end == std::string::npos || boot == std::string::npos) return {};
  const auto ticks = word_of(std::string_view(own).substr(name_end + 2), 19);
  const std::string_view booted = std::string_view(machine).substr(boot + 7);
  const auto seconds = number(std::string(booted.substr(0, booted.find('\n'))));
  if (!ticks || !seconds) return {};
  return *seconds + *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

Families process_metrics() {
  Families families;
  const auto add = [&](const char* name, const char* help, Kind kind,
                       const std::optional<double>& value) {
    if (value) families.push_back(single(name, help, kind, *value));
  };
  add("process_cpu_seconds_total", "Processor time of this process, user and system",
      Kind::kCounter, cpu_seconds());
  add("process_resident_memory_bytes", "Memory of this process that is resident", Kind::kGauge,
      resident_bytes());
  add("process_open_fds", "Descriptors that this process has open", Kind::kGauge,
      open_descriptors());
  add("process_max_fds", "Descriptors that this process may have open", Kind::kGauge,
      most_descriptors());
  add("process_start_time_seconds", "When this process began, in seconds since 1970", Kind::kGauge,
      start_time());
  return families;
}

}  // namespace pareto::metrics
