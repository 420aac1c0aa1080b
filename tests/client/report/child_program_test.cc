#include "client/report/child_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "core/base/file.h"

namespace pareto::report {
namespace {

using testing::HasSubstr;

class ChildProgramTest : public testing::Test {
 protected:
  Expected<int> run(const std::string& program, std::vector<std::string> arguments,
                    ChildProgram child = {}) const {
    child.program = program;
    child.arguments = std::move(arguments);
    child.folder = folder_.path();
    return run_child(child);
  }
  TemporaryFolder folder_ = TemporaryFolder::create("child").value();
};

TEST_F(ChildProgramTest, ReadsItsInputAndLeavesWhatItWrote) {
  const auto input = folder_.path() / "input";
  std::ofstream(input) << "hello";
  const auto code = run("sh", {"-c", "cat; echo odd >&2; exit 3"}, {.folder = {}, .input = input});
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(*code, 3);
  EXPECT_EQ(read_file(folder_.path() / "stdout").value(), "hello");
  EXPECT_EQ(last_words(folder_.path()), "odd\n");
}

TEST_F(ChildProgramTest, ItsHomeIsItsFolder) {
  ASSERT_EQ(run("sh", {"-c", "printf %s \"$HOME\""}).value(), 0);
  EXPECT_EQ(read_file(folder_.path() / "stdout").value(), folder_.path().string());
}

TEST_F(ChildProgramTest, OnesThatAreNotThereAreNotFound) {
  EXPECT_EQ(run("no-such-program", {}).error().code, ErrorCode::kNotFound);
}

TEST_F(ChildProgramTest, EndsWithAllThatItStarted) {
  // The inner one writes its number, so that it can be looked for.
  const auto late = run("sh", {"-c", "sleep 600 & echo $! ; wait"},
                        {.folder = {}, .patience = std::chrono::seconds(1)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(late.error().message, HasSubstr("sh did not end in 1 s"));
  const std::string inner = read_file(folder_.path() / "stdout").value();
  const auto state = read_file("/proc/" + inner.substr(0, inner.find('\n')) + "/stat");
  // It is gone, or waits for init to take note of it.
  if (state) {
    EXPECT_THAT(*state, HasSubstr(") Z "));
  }
}

TEST_F(ChildProgramTest, EndsOnceItIsStopped) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const auto stopped = run("sleep", {"600"}, {.folder = {}, .stop = ends[0]});
  for (const int end : ends) ::close(end);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace pareto::report
