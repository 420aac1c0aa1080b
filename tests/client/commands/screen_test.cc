// A view on a terminal, with a pseudo-terminal in its place.
#include "client/commands/screen.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "core/base/file_descriptor.h"
#include "tests/client/support/pseudo_terminal.h"

namespace pareto::client::commands {
namespace {

using test::PseudoTerminal;

const TimePoint kEver = TimePoint::max() - std::chrono::hours(1);

/// Readable once something was said.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    reading_ = FileDescriptor(ends[0]);
    writing_ = FileDescriptor(ends[1]);
  }
  int end() const { return reading_.get(); }
  void say(char what) const { EXPECT_EQ(::write(writing_.get(), &what, 1), 1); }
  void close() { writing_.reset(); }

 private:
  FileDescriptor reading_;
  FileDescriptor writing_;
};

class ScreenTest : public testing::Test {
 protected:
  PseudoTerminal terminal_;
  std::ostringstream out_;
  Pipe pipe_;
};

TEST_F(ScreenTest, TakesTheTerminalAndGivesItBack) {
  const tcflag_t before = terminal_.modes();
  ASSERT_TRUE(before & ECHO);
  {
    Screen screen(out_, terminal_.inside());
    EXPECT_FALSE(terminal_.modes() & (ECHO | ICANON | ISIG));
    EXPECT_EQ(out_.str(), "\x1b[?1049h\x1b[?25l\x1b[?7l");
  }
  EXPECT_EQ(terminal_.modes(), before);
  EXPECT_TRUE(out_.str().ends_with("\x1b[?7h\x1b[?25h\x1b[?1049l"));
}

TEST_F(ScreenTest, DrawsInPlace) {
  Screen screen(out_, terminal_.inside());
  const auto drawn = [&](const std::string& text) {
    out_.str("");
    screen.draw(text);
    return out_.str();
  };
  // As many newlines as there are lines would move a screen of as many rows.
  EXPECT_EQ(drawn("one\ntwo\n"), "\x1b[H\x1b[Kone\r\n\x1b[Jtwo");
  EXPECT_EQ(drawn("\none\n"), "\x1b[H\x1b[K\r\n\x1b[Jone");
  EXPECT_EQ(drawn("one"), "\x1b[H\x1b[Jone");
  EXPECT_EQ(drawn(""), "\x1b[H\x1b[J");
}

TEST_F(ScreenTest, IsAsLargeAsTheTerminalIsNow) {
  const Screen screen(out_, terminal_.inside());
  terminal_.resize(50, 132);
  EXPECT_EQ(screen.size().rows, 50);
  EXPECT_EQ(screen.size().columns, 132);
  terminal_.resize(10, 40);
  EXPECT_EQ(screen.size().rows, 10);
  EXPECT_EQ(screen.size().columns, 40);
}

TEST_F(ScreenTest, KeysEndAWait) {
  Screen screen(out_, terminal_.inside());
  for (const auto& [typed, key] : std::vector<std::pair<std::string, char>>{
           {"c", 'c'}, {"\x1b[C", '>'}, {"\x1b[D", '<'}, {"\x1bOC", '>'}, {"\x03", 'q'}}) {
    terminal_.type(typed);
    const Awakening awake = screen.wait(-1, kEver);
    EXPECT_EQ(awake.key, key);
    EXPECT_FALSE(awake.stop);
  }
}

TEST_F(ScreenTest, AStopEndsAWaitAndSoDoesTheMoment) {
  Screen screen(out_, terminal_.inside());
  const Awakening moment = screen.wait(pipe_.end(), TimePoint());
  EXPECT_FALSE(moment.stop);
  EXPECT_EQ(moment.key, 0);
  pipe_.say('x');
  EXPECT_TRUE(screen.wait(pipe_.end(), kEver).stop);
}

TEST_F(ScreenTest, NewsEndAWaitWhereThereAreNoKeys) {
  Screen screen(out_, terminal_.inside());
  EXPECT_FALSE(screen.wait(-1, TimePoint(), pipe_.end()).news);
  pipe_.say('x');
  terminal_.type("c");
  const Awakening key = screen.wait(-1, kEver, pipe_.end());
  EXPECT_EQ(key.key, 'c');
  EXPECT_FALSE(key.news);
  const Awakening news = screen.wait(-1, kEver, pipe_.end());
  EXPECT_EQ(news.key, 0);
  EXPECT_TRUE(news.news);
  EXPECT_TRUE(screen.wait(pipe_.end(), kEver, pipe_.end()).stop);
}

TEST_F(ScreenTest, WithoutATerminalThereAreNoKeys) {
  pipe_.say('q');
  Screen screen(out_, pipe_.end());
  EXPECT_EQ(screen.wait(-1, TimePoint()).key, 0);
  // A descriptor that has ended is waited for no more.
  pipe_.close();
  int input = pipe_.end();
  EXPECT_EQ(wait_for_key(input, -1, TimePoint::max()).key, 'q');
  EXPECT_EQ(wait_for_key(input, -1, TimePoint()).key, 0);
  EXPECT_EQ(input, -1);
}

}  // namespace
}  // namespace pareto::client::commands
