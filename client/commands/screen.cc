#include "client/commands/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace pareto::client::commands {
namespace {

// The other screen, no cursor, lines that are not wrapped; and back.
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr const char* kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Reads one byte; no value if the input has ended.
std::optional<char> read_byte(int input) {
  char byte = 0;
  if (::read(input, &byte, 1) != 1) return {};
  return byte;
}

/// Reads what follows an escape at once: "[C". A lone escape has nothing behind it.
std::string rest_of_escape(int input) {
  std::string rest;
  pollfd more{input, POLLIN, 0};
  while (rest.size() < 2 && ::poll(&more, 1, 0) == 1) {
    const auto byte = read_byte(input);
    if (!byte) break;
    rest += *byte;
  }
  return rest;
}

/// Returns the key that a byte stands for; 0: none that is known.
char key_of(char byte, int input) {
  constexpr char kCtrlC = 3;
  constexpr char kEscape = 27;
  if (byte == kCtrlC) return 'q';
  if (byte != kEscape) return byte;
  const std::string rest = rest_of_escape(input);
  if (rest == "[D" || rest == "OD") return '<';
  return rest == "[C" || rest == "OC" ? '>' : '\0';
}

int milliseconds_until(TimePoint until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

}  // namespace

Awakening wait_for_key(int& input, int stop, TimePoint until, int news) {
  for (;;) {
    // Negative descriptors are passed over.
    std::array<pollfd, 3> waited{{{input, POLLIN, 0}, {stop, POLLIN, 0}, {news, POLLIN, 0}}};
    const int ready = ::poll(waited.data(), waited.size(), milliseconds_until(until));
    if (ready == 0) return {};
    if (ready < 0) continue;  // a signal
    if (waited[1].revents != 0) return {.stop = true};
    if (waited[0].revents == 0) return {.news = true};
    const auto byte = read_byte(input);
    if (!byte) {
      input = -1;
      continue;
    }
    if (const char key = key_of(*byte, input); key != 0) return {.key = key};
  }
}

Screen::Screen(std::ostream& out, int input) : out_(out), terminal_(input), keys_(input) {
  termios now{};
  if (::tcgetattr(input, &now) == 0) {
    before_ = now;
    // Ctrl-C is a key as well: a signal could end the process before the terminal is as it was.
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    ::tcsetattr(input, TCSANOW, &now);
  } else {
    keys_ = -1;
  }
  out_ << kEnter << std::flush;
}

Screen::~Screen() {
  out_ << kLeave << std::flush;
  if (before_) ::tcsetattr(terminal_, TCSANOW, &*before_);
}

Screen::Size Screen::size() const {
  for (const int terminal : {terminal_, STDOUT_FILENO}) {
    winsize size{};
    if (::ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
      return {size.ws_col, size.ws_row};
    }
  }
  return {};
}

void Screen::draw(const std::string& text) {
  std::string drawn = "\x1b[H";
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool last = end + 1 >= text.size();
    // What was there is taken away first: behind a line that fills its row the last character would
    // go with it. A newline behind the last row would move all others.
    drawn += (last ? "\x1b[J" : "\x1b[K") + text.substr(begin, end - begin) + (last ? "" : "\r\n");
    begin = end + 1;
  } while (begin < text.size());
  out_ << drawn << std::flush;
}

}  // namespace pareto::client::commands
