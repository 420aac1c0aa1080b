// A terminal that a test types on.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "core/base/file_descriptor.h"

namespace pareto::test {

/// Both ends of a pseudo terminal.
///
/// Threads: one owner.
class PseudoTerminal {
 public:
  PseudoTerminal()
      : outside_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), inside_(open_inside()) {
    resize(24, 80);
  }

  /// Returns the descriptor that a program has for its input.
  int inside() const { return inside_.get(); }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(outside_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::ioctl(inside_.get(), TIOCSWINSZ, &size), 0);
  }
  tcflag_t modes() const {
    termios now{};
    EXPECT_EQ(::tcgetattr(inside_.get(), &now), 0);
    return now.c_lflag;
  }

 private:
  int open_inside() const {
    char name[64] = "";
    EXPECT_EQ(::grantpt(outside_.get()), 0);
    EXPECT_EQ(::unlockpt(outside_.get()), 0);
    EXPECT_EQ(::ptsname_r(outside_.get(), name, sizeof name), 0);
    return ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  }

  const FileDescriptor outside_;
  const FileDescriptor inside_;
};

}  // namespace pareto::test
