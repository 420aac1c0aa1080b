#include "client/commands/line_reader.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include "core/base/file.h"

namespace pareto::client::commands {
namespace {

/// A longer line is no name of a file.
constexpr std::size_t kLongestLine = 1 << 20;
/// Time between two questions to a file for more, in milliseconds.
constexpr int kAskingMs = 100;
constexpr std::string_view kEnd = ".";

}  // namespace

Expected<LineReader> LineReader::of(int input, int stop, bool grows) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return tl::unexpected(error_from_errno(errno, "making an event"));
  return LineReader(input, stop, std::move(wake), grows);
}

bool LineReader::wait_for_input() const {
  // A file is always readable: it is asked again after a while.
  std::array<pollfd, 3> waiting{
      {{grows_ ? -1 : input_, POLLIN, 0}, {stop_, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (::poll(waiting.data(), waiting.size(), grows_ ? kAskingMs : -1) < 0) {
    if (errno != EINTR) return false;
  }
  return waiting[1].revents == 0 && waiting[2].revents == 0;
}

bool LineReader::fill() {
  if (!grows_ && !wait_for_input()) return false;
  std::array<char, 4096> chunk{};
  ssize_t got = 0;
  for (;;) {
    got = ::read(input_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got != 0 || !grows_ || !wait_for_input()) break;
  }
  // A stdin that was closed has no requests.
  if (got < 0 && errno == EBADF) got = 0;
  if (got < 0) problem_ = error_from_errno(errno, "reading the requests");
  // Of a file that grows this is where it is not waited for any more.
  if (got == 0 && !grows_) at_end_ = true;
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  if (buffer_.size() <= kLongestLine + chunk.size()) return true;
  problem_ = Error{ErrorCode::kInvalidArgument,
                   fmt::format("a line of the requests has over {} bytes", kLongestLine)};
  return false;
}

std::optional<std::string> LineReader::next() {
  std::size_t end = buffer_.find('\n');
  while (end == std::string::npos && !ended_) {
    const std::size_t seen = buffer_.size();
    ended_ = !fill();
    end = buffer_.find('\n', seen);
  }
  std::array<pollfd, 2> unwanted{{{stop_, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  const bool stopped = ::poll(unwanted.data(), unwanted.size(), 0) > 0;
  if (stopped || problem_) return std::nullopt;
  if (end == std::string::npos && buffer_.empty()) {
    came_to_end_ = at_end_;
    return std::nullopt;
  }
  // What is not ended yet may still grow.
  if (grows_ && end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end == std::string::npos ? end : end + 1);
  if (line.ends_with('\r')) line.pop_back();
  if (grows_ && line == kEnd) {
    ended_ = true;
    came_to_end_ = true;
    buffer_.clear();
    return std::nullopt;
  }
  return line;
}

void LineReader::cancel() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

}  // namespace pareto::client::commands
