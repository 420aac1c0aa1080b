#include "client/commands/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string_view>

namespace pareto::client::commands {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  LineReaderTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    out_ = FileDescriptor(ends[0]);
    in_ = FileDescriptor(ends[1]);
    EXPECT_EQ(::pipe(ends.data()), 0);
    stop_ = FileDescriptor(ends[0]);
    stopper_ = FileDescriptor(ends[1]);
  }
  LineReader reader() const { return LineReader::of(out_.get(), stop_.get()).value(); }
  static void write(const FileDescriptor& to, std::string_view text) {
    ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  FileDescriptor in_;
  FileDescriptor out_;
  FileDescriptor stop_;
  FileDescriptor stopper_;
};

TEST_F(LineReaderTest, LinesComeUntilTheEnd) {
  write(in_, "a.npy\n\nb c.npy\r\nlast");
  in_.reset();
  LineReader lines = reader();
  EXPECT_EQ(lines.next(), "a.npy");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), "b c.npy");
  EXPECT_EQ(lines.next(), "last");
  EXPECT_EQ(lines.next(), std::nullopt);
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST_F(LineReaderTest, ALineMayComeInPieces) {
  LineReader lines = reader();
  auto line = std::async(std::launch::async, [&] { return lines.next(); });
  write(in_, "one");
  write(in_, " two\nthree\n");
  EXPECT_EQ(line.get(), "one two");
  EXPECT_EQ(lines.next(), "three");
}

TEST_F(LineReaderTest, AStopAndACancelWakeIt) {
  {
    LineReader lines = reader();
    auto line = std::async(std::launch::async, [&] { return lines.next(); });
    lines.cancel();
    EXPECT_EQ(line.get(), std::nullopt);
  }
  LineReader lines = reader();
  write(in_, "here\nnot wanted any more\n");
  EXPECT_EQ(lines.next(), "here");
  write(stopper_, "x");
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST_F(LineReaderTest, ALineWithoutEndIsGivenUp) {
  LineReader lines = reader();
  auto line = std::async(std::launch::async, [&] { return lines.next().has_value(); });
  const std::string chunk(4096, 'x');
  for (int i = 0; i < 258; ++i) write(in_, chunk);
  in_.reset();
  line.get();
  EXPECT_EQ(lines.next(), std::nullopt);
}

}  // namespace
}  // namespace pareto::client::commands
