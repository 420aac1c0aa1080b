#include "client/interrupts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>

namespace pareto::client::commands {
namespace {

/// Runs `body` in a process of its own; its wait status.
template <typename Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Interrupts, TheFirstSignalSetsTheFlag) {
  const int status = in_child([] {
    Interrupts interrupts;
    const std::atomic<bool>& stop = interrupts.watch();
    if (stop) ::_exit(1);
    ::kill(::getpid(), SIGINT);
    stop.wait(false);
    ::_exit(stop ? 42 : 2);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Interrupts, TheSecondEndsTheProcess) {
  const int status = in_child([] {
    Interrupts interrupts;
    const std::atomic<bool>& stop = interrupts.watch();
    ::kill(::getpid(), SIGTERM);
    stop.wait(false);
    ::kill(::getpid(), SIGTERM);
    for (;;) ::pause();
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

TEST(Interrupts, ATerminalThatGoesSetsTheFlagHoweverOften) {
  const int status = in_child([] {
    Interrupts interrupts;
    const std::atomic<bool>& stop = interrupts.watch();
    ::raise(SIGHUP);
    stop.wait(false);
    ::raise(SIGHUP);
    // Read after it: had that ended the process, the status would be another.
    ::raise(SIGTERM);
    for (;;) ::pause();
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

TEST(Interrupts, AnIgnoredHangupStaysSo) {
  const int status = in_child([] {
    std::signal(SIGHUP, SIG_IGN);
    {
      Interrupts interrupts;
      const std::atomic<bool>& stop = interrupts.watch();
      ::raise(SIGHUP);
      if (stop) ::_exit(1);
      struct sigaction now {};
      ::sigaction(SIGHUP, nullptr, &now);
      if (now.sa_handler != SIG_IGN) ::_exit(2);
    }
    ::raise(SIGHUP);
    ::_exit(42);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Interrupts, BeforeAnybodyWatchesASignalIsWhatItAlwaysWas) {
  const int status = in_child([] {
    const Interrupts interrupts;
    ::raise(SIGINT);
    for (;;) ::pause();
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupts, NobodyWatchesAfterItsEnd) {
  const int status = in_child([] {
    {
      Interrupts interrupts;
      interrupts.watch();
    }
    ::raise(SIGINT);
    for (;;) ::pause();
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupts, TheFirstSignalIsAnsweredAtOnce) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int status = in_child([&] {
    ::dup2(ends[1], STDERR_FILENO);
    Interrupts interrupts;
    const std::atomic<bool>& stop = interrupts.watch();
    interrupts.announce("stopping soon");
    ::kill(::getpid(), SIGINT);
    stop.wait(false);
    ::kill(::getpid(), SIGINT);
    for (;;) ::pause();
  });
  ::close(ends[1]);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  std::string said(64, '\0');
  const ssize_t got = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  EXPECT_EQ(said.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0))), "stopping soon\n");
}

TEST(Interrupts, TheFirstSignalEndsAProcessThatLeavesAtOnceWithASentence) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int status = in_child([&] {
    ::dup2(ends[1], STDERR_FILENO);
    Interrupts interrupts;
    interrupts.watch();
    interrupts.leave_at_once("stopped before it began");
    ::kill(::getpid(), SIGINT);
    for (;;) ::pause();
  });
  ::close(ends[1]);
  // As the signal would have ended it: a shell's loop ends with it.
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  std::string said(64, '\0');
  const ssize_t got = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  EXPECT_EQ(said.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0))),
            "stopped before it began\n");
}

TEST(Interrupts, WhatIsAnnouncedLaterIsEndedInOrder) {
  const int status = in_child([&] {
    Interrupts interrupts;
    const std::atomic<bool>& stop = interrupts.watch();
    interrupts.leave_at_once("stopped before it began");
    interrupts.announce("stopping soon");
    ::kill(::getpid(), SIGINT);
    stop.wait(false);
    ::_exit(stop ? 42 : 2);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace pareto::client::commands
