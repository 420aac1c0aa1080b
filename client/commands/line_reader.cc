#include "client/commands/line_reader.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "core/base/file.h"

namespace pareto::client {
namespace {

/// A longer line is no name of a file.
constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

Expected<LineReader> LineReader::of(int input, int stop) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return tl::unexpected(error_from_errno(errno, "making an event"));
  return LineReader(input, stop, std::move(wake));
}

bool LineReader::fill() {
  std::array<pollfd, 3> waiting{
      {{input_, POLLIN, 0}, {stop_, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  if (waiting[1].revents != 0 || waiting[2].revents != 0) return false;
  std::array<char, 4096> chunk{};
  ssize_t got = 0;
  do {
    got = ::read(input_, chunk.data(), chunk.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return buffer_.size() <= kLongestLine + chunk.size();
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
  if (stopped || (end == std::string::npos && buffer_.empty())) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end == std::string::npos ? end : end + 1);
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

void LineReader::cancel() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

}  // namespace pareto::client
