// Disks that are full at one call that writes: those of a training's checkpoints, and of the log of
// answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/failing_writes.h"
#include "tests/e2e/standby_fixture.h"
#include "tests/e2e/train_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class CheckpointFaults : public Train {
 protected:
  /// Returns a training of few steps and few tensors, with checkpoints at its beginning and end.
  std::vector<std::string> training(const std::vector<std::string>& more) const {
    std::vector<std::string> flags{
        "--model",     "squeezenet1_0", "--epochs",   "1", "--input-shape", "3x32x32",
        "--optimiser", "sgd",           "--momentum", "0", "--batch",       "16"};
    flags.insert(flags.end(), more.begin(), more.end());
    return with(flags);
  }
  /// Returns whether the folder has a whole checkpoint.
  bool has_checkpoint() const {
    if (!fs::exists(path("run"))) return false;
    for (const auto& entry : fs::directory_iterator(path("run"))) {
      if (entry.path().filename().string().starts_with("step-")) return true;
    }
    return false;
  }

  FailingWrites writes_{path("writes")};
};

TEST_F(CheckpointFaults, OfAFullDiskLeaveTheLastOneWhole) {
  FaultRow row{.fault = "the disk of a training's checkpoints is full at one call that writes",
               .expected =
                   "the training says so, names the folder and what helps; --resume goes on from "
                   "the last checkpoint, to the same bits"};
  const std::vector<std::string> kept{"--checkpoint", path("run")};
  const auto right = paretoctl(training({"--output", path("right.pth")}));
  ASSERT_EQ(right.exit_code, 0) << right.errors;
  const auto counted = paretoctl_with(writes_.variables(path("run"), 0), training(kept));
  ASSERT_EQ(counted.exit_code, 0) << counted.errors;
  const std::size_t calls = writes_.count();
  ASSERT_GT(calls, 100U);
  std::size_t resumed = 0;
  row.cycles = 0;
  for (const std::size_t call : chosen_calls(calls, 4)) {
    fs::remove_all(path("run"));
    const auto full = paretoctl_with(row.cycles % 2 == 0 ? writes_.variables(path("run"), call)
                                                         : writes_.half(path("run"), call),
                                     training(kept));
    const std::string what = writes_.line(call) + ": " + full.errors;
    EXPECT_EQ(full.exit_code, 1) << what;
    EXPECT_THAT(full.errors, AllOf(HasSubstr("No space left on device"), HasSubstr(path("run")),
                                   HasSubstr("free some space")))
        << what;
    const bool is_left = has_checkpoint();
    // One that is whole, and whose folder could not be flushed, is there without being promised.
    if (full.errors.find("the last checkpoint is whole") != std::string::npos) {
      EXPECT_TRUE(is_left) << what;
    }
    std::vector<std::string> again{"train", "--resume", path("run")};
    if (!is_left) again = training(kept);
    again.insert(again.end(), {"--output", path("again.pth")});
    const auto done = paretoctl(again);
    EXPECT_EQ(done.exit_code, 0) << what << done.errors;
    EXPECT_EQ(slurp(path("again.pth")), slurp(path("right.pth"))) << what;
    resumed += is_left ? 1 : 0;
    ++row.cycles;
  }
  EXPECT_GT(resumed, 0U);
  row.add("calls that write", calls);
  row.add("trainings that went on from a checkpoint", resumed);
  record(row);
}

class AnswerLogFaults : public LoggedDeploy {
 protected:
  FailingWrites writes_{path("writes")};
};

TEST_F(AnswerLogFaults, OfAFullDiskLoseNoAnswer) {
  FaultRow row{.fault = "the disk of a stream's log (deploy --log) is full at one call that writes",
               .expected =
                   "the stream ends, names the log and what helps; the same command goes on; "
                   "0 lost, 0 doubled, 0 wrong"};
  ASSERT_NO_FATAL_FAILURE(set_up(2, 12, {"paretod"}));
  const auto counted =
      run(deploy("counted", {}), writes_.variables(log("counted"), 0), std::chrono::seconds(120));
  ASSERT_EQ(counted.exit_code, 0) << counted.errors;
  const std::size_t calls = writes_.count();
  ASSERT_GT(calls, 12U);
  std::size_t failed = 0;
  row.cycles = 0;
  for (const bool half : {false, true}) {
    for (const std::size_t call : chosen_calls(calls, 3)) {
      const std::string name = fmt::format("full-{}-{}", half, call);
      const auto full = run(deploy(name, {}), half ? writes_.half(log(name), call)
                                                   : writes_.variables(log(name), call));
      const std::string what = writes_.line(call) + ": " + full.errors;
      // The last flush of a log that is complete says nothing.
      EXPECT_THAT(full.exit_code, AnyOf(0, 1)) << what;
      if (full.exit_code != 0) {
        ++failed;
        EXPECT_THAT(full.errors, AllOf(HasSubstr("No space left on device"), HasSubstr(log(name)),
                                       HasSubstr("free some space")))
            << what;
        const auto again = run(deploy(name, {}));
        EXPECT_EQ(again.exit_code, 0) << what << again.errors;
      }
      expect_whole(name);
      ++row.cycles;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(failed, 0U);
  row.add("calls that write", calls);
  row.add("streams that ended", failed);
  record(row);
}

}  // namespace
}  // namespace pareto::test
