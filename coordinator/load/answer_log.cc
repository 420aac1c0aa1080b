#include "coordinator/load/answer_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"

namespace pareto::load {
namespace {

/// The most that a crash of the machine costs: what was answered in this time is answered again.
constexpr Nanoseconds kToDisk = std::chrono::milliseconds(200);

/// Hands each line of a text to `take`; the last one need not end.
template <typename Take>
Expected<> each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    PARETO_TRY(take(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

Expected<LogState> state_of(const std::string& name, const std::string& text) {
  LogState state;
  state.bytes = text.size();
  HistoryReader reader(name);
  PARETO_TRY(each_line(text, [&](std::string_view line) -> Expected<> {
    PARETO_ASSIGN(auto read, reader.take(line));
    if (!read) return {};
    if (read->begins) {
      state.term = std::move(read->begins);
      state.ended = false;
    } else if (read->ends) {
      state.ended = true;
    } else {
      const std::uint64_t number = read->number;
      state.answers.try_emplace(number, *std::move(read));
    }
    return {};
  }));
  return state;
}

std::string line_of(const TermLine& term) {
  return dump({{"term", term.term},
               {"lease", term.lease},
               {"plan", term.plan},
               {"by", term.by},
               {"program", term.program}});
}

Error taken_over(const TermLine& term, const TermLine& by) {
  return {ErrorCode::kPermission,
          fmt::format("term {} of {} is over: {} has taken over with term {}; what is left is "
                      "answered there",
                      term.term, printable(term.lease), printable(by.by), by.term)};
}

}  // namespace

Expected<LogState> read_answer_log(const std::filesystem::path& path) {
  auto text = read_regular_file(path, kLongestLog);
  if (!text && text.error().code == ErrorCode::kNotFound) return LogState{};
  PARETO_TRY(text);
  return state_of(path.string(), *text);
}

struct AnswerLog::Impl {
  Impl(std::filesystem::path file, FileDescriptor open_file, TermLine begun,
       std::function<void()> ended, std::uint64_t most)
      : path(std::move(file)),
        descriptor(std::move(open_file)),
        term(std::move(begun)),
        on_end(std::move(ended)),
        longest(most) {}

  const std::filesystem::path path;
  const FileDescriptor descriptor;
  const TermLine term;
  const std::function<void()> on_end;
  const std::uint64_t longest;  ///< bytes
  LogState before;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t seen_bytes = 0;  ///< the log until here has been read, or was written here
  std::optional<Error> problem;
  bool ending = false;
  std::jthread flusher;

  Error file_error(const char* doing) const {
    const int number = errno;
    Error error = error_from_errno(number, fmt::format("{} the log {}", doing, path.string()));
    if (number == ENOSPC || number == EDQUOT || number == EFBIG) {
      error.message += ": free some space there, and the same command goes on with what is left";
    }
    return error;
  }

  tl::unexpected<Error> too_long() const {
    return fail(ErrorCode::kExhausted,
                "the log {} has all the {} bytes that one may have: name another one for the "
                "requests that are left",
                path.string(), longest);
  }

  /// Appends a line by one write. `mutex` is held, or nobody else is there yet.
  Expected<> write_line(const std::string& line) {
    ssize_t written = 0;
    do {
      written = ::write(descriptor.get(), line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written < 0) return tl::unexpected(file_error("writing"));
    if (static_cast<std::size_t>(written) == line.size()) return {};
    errno = ENOSPC;
    return tl::unexpected(file_error("writing"));
  }

  Expected<std::uint64_t> size() const {
    struct stat found {};
    if (::fstat(descriptor.get(), &found) != 0) return tl::unexpected(file_error("reading"));
    return static_cast<std::uint64_t>(found.st_size);
  }

  Expected<std::string> read_from(std::uint64_t begin, std::uint64_t end) const {
    std::string text(static_cast<std::size_t>(end - begin), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
      const ssize_t got = ::pread(descriptor.get(), text.data() + have, text.size() - have,
                                  static_cast<off_t>(begin + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(file_error("reading"));
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
  }

  /// Fails if a newer term has begun in what others appended. `own_bytes`: what this program has
  /// just appended. `mutex` is held.
  Expected<> look_for_newer(std::uint64_t own_bytes) {
    PARETO_ASSIGN(const std::uint64_t now, size());
    if (now < seen_bytes) {
      return fail(ErrorCode::kCorrupt, "the log {} became shorter: another program rewrote it",
                  path.string());
    }
    if (now == seen_bytes + own_bytes) {
      seen_bytes = now;
      return {};
    }
    PARETO_ASSIGN(const std::string text, read_from(seen_bytes, now));
    std::optional<TermLine> newer;
    PARETO_TRY(each_line(text, [&](std::string_view line) -> Expected<> {
      const auto read = parse_history_line(line);
      if (read && read->begins && read->begins->term > term.term) newer = read->begins;
      return {};
    }));
    if (newer) return tl::unexpected(taken_over(term, *newer));
    // A line that is being written is read again.
    const std::size_t whole = text.rfind('\n');
    if (whole != std::string::npos) seen_bytes += whole + 1;
    return {};
  }

  /// Remembers the first error. Returns it, or nothing.
  Expected<> note(Expected<> result) {
    if (!result && !problem) problem = result.error();
    return result;
  }

  void flush() {
    std::unique_lock lock(mutex);
    std::uint64_t flushed = 0;
    while (!problem && !ending) {
      changed.wait_for(lock, kToDisk, [this] { return ending || problem.has_value(); });
      if (problem || ending) break;
      if (!note(look_for_newer(0))) break;
      if (seen_bytes == flushed) continue;
      flushed = seen_bytes;
      lock.unlock();
      const bool synced = ::fdatasync(descriptor.get()) == 0 || errno == EINVAL;
      lock.lock();
      if (!synced && !note(tl::unexpected(file_error("writing")))) break;
    }
    const bool failed = problem.has_value();
    lock.unlock();
    if (failed) on_end();
    static_cast<void>(::fdatasync(descriptor.get()));
  }
};

AnswerLog::AnswerLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AnswerLog::~AnswerLog() {
  const std::lock_guard lock(impl_->mutex);
  impl_->ending = true;
  impl_->changed.notify_all();
}

Expected<std::unique_ptr<AnswerLog>> AnswerLog::begin(const std::filesystem::path& path,
                                                      const TermLine& term, bool exclusive,
                                                      std::function<void()> on_end,
                                                      std::uint64_t longest) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  auto impl = std::make_unique<Impl>(path, std::move(file), term, std::move(on_end), longest);
  if (!impl->descriptor) return tl::unexpected(impl->file_error("opening"));
  if (exclusive && ::flock(impl->descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kUnavailable,
                "another process writes the log {}: wait until it is done, or name another file",
                path.string());
  }
  PARETO_ASSIGN(const std::uint64_t old_bytes, impl->size());
  // What a crash cut short is a line of its own.
  PARETO_ASSIGN(const std::string last,
                impl->read_from(old_bytes == 0 ? 0 : old_bytes - 1, old_bytes));
  const std::string begun = (last.empty() || last == "\n" ? "" : "\n") + line_of(term) + "\n";
  if (old_bytes + begun.size() > longest) return impl->too_long();
  PARETO_TRY(impl->write_line(begun));
  PARETO_ASSIGN(const std::uint64_t bytes, impl->size());
  PARETO_ASSIGN(const std::string text, impl->read_from(0, bytes));
  const std::size_t own = text.find(line_of(term) + "\n");
  if (own == std::string::npos) {
    return fail(ErrorCode::kCorrupt, "the log {} does not keep what is written", path.string());
  }
  PARETO_ASSIGN(impl->before, state_of(path.string(), text.substr(0, own)));
  if (impl->before.term && impl->before.term->term >= term.term) {
    return tl::unexpected(taken_over(term, *impl->before.term));
  }
  impl->seen_bytes = own + line_of(term).size() + 1;
  PARETO_TRY(impl->look_for_newer(0));
  impl->flusher = std::jthread([one = impl.get()] { one->flush(); });
  return std::unique_ptr<AnswerLog>(new AnswerLog(std::move(impl)));
}

const LogState& AnswerLog::before() const { return impl_->before; }

Expected<> AnswerLog::append(const std::string& line) {
  auto document = nlohmann::ordered_json::parse(line);
  document["term"] = impl_->term.term;
  const std::string whole = dump(document) + "\n";
  const std::lock_guard lock(impl_->mutex);
  if (impl_->problem) return tl::unexpected(*impl_->problem);
  if (whole.size() > kLongestLogLine) {
    return impl_->note(
        fail(ErrorCode::kExhausted, "a line of {} bytes is too long for the log", whole.size()));
  }
  PARETO_TRY(impl_->note(impl_->look_for_newer(0)));
  if (impl_->seen_bytes + whole.size() > impl_->longest) return impl_->note(impl_->too_long());
  PARETO_TRY(impl_->note(impl_->write_line(whole)));
  return impl_->note(impl_->look_for_newer(whole.size()));
}

Expected<> AnswerLog::end() {
  PARETO_TRY(append(R"({"ends":true})"));
  const std::lock_guard lock(impl_->mutex);
  // Some file systems say only now that they are full.
  if (::fdatasync(impl_->descriptor.get()) == 0 || errno == EINVAL) return {};
  return impl_->note(tl::unexpected(impl_->file_error("writing")));
}

std::optional<Error> AnswerLog::problem() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->problem;
}

}  // namespace pareto::load
