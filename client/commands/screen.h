// A whole terminal for a view that is drawn again and again, and its keys.
#pragma once

#include <termios.h>

#include <iosfwd>
#include <optional>
#include <string>

#include "core/base/clock.h"

namespace pareto::client::commands {

/// The reasons why a wait ended.
struct Awakening {
  bool stop = false;  ///< `stop` became readable
  char key = 0;       ///< key as typed; '<' and '>' for the arrows, 'q' for Ctrl-C; 0: none
  bool news = false;  ///< `news` became readable
};

/// Waits for a key, for news or until `until`, whichever comes first. A stop goes before keys, and
/// keys before news. -1 means that there is no such descriptor:
/// - `input` gives keys. After its end no more keys come.
/// - `stop` becomes readable when no more is wanted.
/// - `news` becomes readable when there are some.
Awakening wait_for_key(int& input, int stop, TimePoint until, int news = -1);

/// Takes the terminal's other screen, hides its cursor and asks for keys without Return; all as
/// before when this ends. Where `input` is no terminal there are no keys.
///
/// Threads: one owner.
class Screen {
 public:
  struct Size {
    int columns = 80;
    int rows = 24;
  };

  /// `out` leads to a terminal; `input` stays the caller's.
  Screen(std::ostream& out, int input);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Returns the size as it is now: terminals are made larger and smaller.
  Size size() const;
  /// Draws in place of what is there: lines that end with a newline, each one row. Rows
  /// are cut off at the last column.
  void draw(const std::string& text);
  Awakening wait(int stop, TimePoint until, int news = -1) {
    return wait_for_key(keys_, stop, until, news);
  }

 private:
  std::ostream& out_;
  const int terminal_;
  int keys_;
  std::optional<termios> before_;  ///< no value means there are no keys
};

}  // namespace pareto::client::commands
