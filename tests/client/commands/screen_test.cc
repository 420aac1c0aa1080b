// A view on a terminal, with a pseudo-terminal in its place.
#include "client/commands/screen.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "core/base/file_descriptor.h"
#include "tests/client/support/pseudo_terminal.h"

namespace pareto::client {
namespace {

using test::PseudoTerminal;

const TimePoint kEver = TimePoint::max() - std::chrono::hours(1);

TEST(ScreenTest, TakesTheTerminalAndGivesItBack) {
  PseudoTerminal terminal;
  const tcflag_t before = terminal.modes();
  ASSERT_TRUE(before & ECHO);
  std::ostringstream out;
  {
    Screen screen(out, terminal.inside());
    EXPECT_FALSE(terminal.modes() & (ECHO | ICANON | ISIG));
    EXPECT_EQ(out.str(), "\x1b[?1049h\x1b[?25l");
  }
  EXPECT_EQ(terminal.modes(), before);
  EXPECT_TRUE(out.str().ends_with("\x1b[?25h\x1b[?1049l"));
}

TEST(ScreenTest, DrawsInPlace) {
  PseudoTerminal terminal;
  std::ostringstream out;
  Screen screen(out, terminal.inside());
  out.str("");
  screen.draw("one\ntwo\n");
  EXPECT_EQ(out.str(), "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J");
}

TEST(ScreenTest, IsAsLargeAsTheTerminalIsNow) {
  PseudoTerminal terminal;
  std::ostringstream out;
  const Screen screen(out, terminal.inside());
  terminal.resize(50, 132);
  EXPECT_EQ(screen.size().rows, 50);
  EXPECT_EQ(screen.size().columns, 132);
  terminal.resize(10, 40);
  EXPECT_EQ(screen.size().rows, 10);
  EXPECT_EQ(screen.size().columns, 40);
}

TEST(ScreenTest, KeysEndAWait) {
  PseudoTerminal terminal;
  std::ostringstream out;
  Screen screen(out, terminal.inside());
  for (const auto& [typed, key] : std::vector<std::pair<std::string, char>>{
           {"c", 'c'}, {"\x1b[C", '>'}, {"\x1b[D", '<'}, {"\x1bOC", '>'}, {"\x03", 'q'}}) {
    terminal.type(typed);
    const Awakening awake = screen.wait(-1, kEver);
    EXPECT_EQ(awake.key, key);
    EXPECT_FALSE(awake.stop);
  }
}

TEST(ScreenTest, AStopEndsAWaitAndSoDoesTheMoment) {
  PseudoTerminal terminal;
  std::ostringstream out;
  Screen screen(out, terminal.inside());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  const Awakening moment = screen.wait(reading.get(), TimePoint());
  EXPECT_FALSE(moment.stop);
  EXPECT_EQ(moment.key, 0);
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  EXPECT_TRUE(screen.wait(reading.get(), kEver).stop);
}

TEST(ScreenTest, NewsEndAWaitWhereThereAreNoKeys) {
  PseudoTerminal terminal;
  std::ostringstream out;
  Screen screen(out, terminal.inside());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor reading(ends[0]);
  const FileDescriptor writing(ends[1]);
  EXPECT_FALSE(screen.wait(-1, TimePoint(), reading.get()).news);
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  terminal.type("c");
  const Awakening key = screen.wait(-1, kEver, reading.get());
  EXPECT_EQ(key.key, 'c');
  EXPECT_FALSE(key.news);
  const Awakening news = screen.wait(-1, kEver, reading.get());
  EXPECT_EQ(news.key, 0);
  EXPECT_TRUE(news.news);
  EXPECT_TRUE(screen.wait(reading.get(), kEver, reading.get()).stop);
}

TEST(ScreenTest, WithoutATerminalThereAreNoKeys) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  ASSERT_EQ(::write(writing.get(), "q", 1), 1);
  std::ostringstream out;
  Screen screen(out, reading.get());
  EXPECT_EQ(screen.wait(-1, TimePoint()).key, 0);
  // A descriptor that has ended is waited for no more.
  writing.reset();
  int input = reading.get();
  EXPECT_EQ(wait_for_key(input, -1, TimePoint::max()).key, 'q');
  EXPECT_EQ(wait_for_key(input, -1, TimePoint()).key, 0);
  EXPECT_EQ(input, -1);
}

}  // namespace
}  // namespace pareto::client
