#include "daemon/imitation/steady_pace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"

namespace pareto::daemon {
namespace {

/// Bounds of the file. Coordinators choose the models, so the bounds protect the daemon from them.
constexpr std::size_t kMostOperators = 100'000;
constexpr std::uint64_t kMostBytes = 64 << 20;
/// Longest time of one operator, and of a run.
constexpr std::chrono::minutes kLongest{1};

/// Opens a file and locks it until it is closed. Waits while another process has it locked.
Expected<FileDescriptor> open_locked(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return tl::unexpected(error_from_errno(errno, "opening it"));
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return tl::unexpected(error_from_errno(errno, "locking it"));
  }
  return file;
}

/// Appends all of the text. If there is no room for it, the file keeps its old size.
Expected<> append(const FileDescriptor& file, std::uint64_t size, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Error error = error_from_errno(errno, "writing it");
      static_cast<void>(::ftruncate(file.get(), static_cast<off_t>(size)));
      return tl::unexpected(error);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Reads the times from `text`, which consists of whole lines.
Expected<> read_times(std::string_view text, std::map<std::string, Nanoseconds>& times) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const char* const last = line.data() + line.size();
    Nanoseconds::rep time = 0;
    const auto [end, error] = std::from_chars(line.data(), last, time);
    const bool is_time = error == std::errc() && end < last && *end == ' ' && time >= 0 &&
                         Nanoseconds(time) <= kLongest;
    if (number == 1 ? line != OperatorPaces::kFirstLine : !is_time) {
      return fail(ErrorCode::kCorrupt,
                  "line {} is not of a file of operator times: remove the file, and it is made "
                  "again",
                  number);
    }
    if (number > 1) times.try_emplace(std::string(end + 1, last), time);
    text.remove_prefix(line.size() + 1);
  }
  return {};
}

std::string line_of(Nanoseconds time, const std::string& what) {
  return fmt::format("{} {}\n", time.count(), what);
}

}  // namespace

SteadyPace::SteadyPace(const runtime::ShardProfile& profile, std::uint64_t input_bytes)
    : input_bytes_(input_bytes) {
  std::vector<Nanoseconds> sums{Nanoseconds(0)};
  for (const runtime::OperatorTime& one : profile.operators) {
    sums.push_back(std::min<Nanoseconds>(sums.back() + one.median, kLongest));
  }
  whole_ = sums.back();
  for (const std::size_t count : profile.operators_until_output) {
    until_output_.push_back(sums[count]);
  }
}

Nanoseconds SteadyPace::scaled(Nanoseconds time, std::uint64_t input_bytes) const {
  if (input_bytes == input_bytes_ || input_bytes_ == 0) return time;
  const double share = static_cast<double>(input_bytes) / static_cast<double>(input_bytes_);
  return from_nanoseconds(std::min(to_nanoseconds(time) * share, to_nanoseconds(kLongest)));
}

Nanoseconds SteadyPace::whole(std::uint64_t input_bytes) const {
  return scaled(whole_, input_bytes);
}

Nanoseconds SteadyPace::until(std::size_t output, std::uint64_t input_bytes) const {
  return scaled(output < until_output_.size() ? until_output_[output] : whole_, input_bytes);
}

bool OperatorPaces::know(const std::vector<runtime::OperatorTime>& operators) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(
      operators, [this](const runtime::OperatorTime& one) { return first_.contains(one.what); });
}

Expected<> OperatorPaces::settle(runtime::ShardProfile& profile) {
  if (!know(profile.operators)) {
    PARETO_TRY(with_context(exchange(profile.operators), "{}", file_.string()));
  }
  const std::lock_guard lock(mutex_);
  for (runtime::OperatorTime& one : profile.operators) one.median = first_.at(one.what);
  for (runtime::SegmentTime& segment : profile.segments) {
    segment.median = {};
    for (const runtime::OperatorTime& one : profile.operators) {
      const bool inside = one.position >= segment.begin && one.position < segment.end;
      if (inside) segment.median += one.median;
    }
  }
  return {};
}

Expected<> OperatorPaces::exchange(const std::vector<runtime::OperatorTime>& operators) {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(const FileDescriptor file, open_locked(file_));
  PARETO_ASSIGN(std::string text, read_file(file_, kMostBytes));
  // A line without a newline at its end was not written whole.
  const std::size_t whole_lines = text.rfind('\n') + 1;
  if (whole_lines < text.size()) {
    text.resize(whole_lines);
    if (::ftruncate(file.get(), static_cast<off_t>(whole_lines)) != 0) {
      return tl::unexpected(error_from_errno(errno, "shortening it"));
    }
  }
  PARETO_TRY(read_times(text, first_));
  std::string added;
  if (text.empty()) {
    added = std::string(kFirstLine) + "\n";
    // Somebody removed the file, or emptied it.
    for (const auto& [what, time] : first_) added += line_of(time, what);
  }
  std::map<std::string, Nanoseconds> fresh;
  for (const runtime::OperatorTime& one : operators) {
    if (first_.contains(one.what)) continue;
    const Nanoseconds time = std::clamp(one.median, Nanoseconds(0), Nanoseconds(kLongest));
    if (fresh.emplace(one.what, time).second) added += line_of(time, one.what);
  }
  if (first_.size() + fresh.size() > kMostOperators || text.size() + added.size() > kMostBytes) {
    return fail(ErrorCode::kExhausted, "holds {} operator times: no more are kept in one file",
                first_.size());
  }
  PARETO_TRY(append(file, text.size(), added));
  first_.merge(fresh);
  return {};
}

Expected<std::unique_ptr<OperatorPaces>> OperatorPaces::open(std::filesystem::path file) {
  std::unique_ptr<OperatorPaces> paces(new OperatorPaces(std::move(file)));
  PARETO_TRY(with_context(paces->exchange({}), "{}", paces->file_.string()));
  return paces;
}

}  // namespace pareto::daemon
