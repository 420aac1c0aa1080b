// Trainings that are stopped, killed or run out of disk, and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <memory>
#include <random>
#include <thread>

#include "tests/e2e/train_fixture.h"

namespace pareto::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

TEST_F(Train, GoesOnAfterAKillToTheSameBits) {
  const std::string expected = uncut();
  {
    auto arguments = with({"--split", "after:features.7", "--checkpoint", path("run"),
                           "--checkpoint-every", "1", "--keep", "100"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 3)) << training.errors();
    training.signal(SIGKILL);
    training.wait();
  }
  const auto resumed =
      paretoctl({"train", "--resume", path("run"), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

TEST_F(Train, GoesOnToTheFilesThatItBeganWith) {
  const Daemon one("one", folder());
  const Daemon two("two", folder());
  const auto began =
      train({"--epochs", "1", "--rate-schedule", "constant", "--split", "after:features.7",
             "--devices", inventory({{"one", one.address()}, {"two", two.address()}}),
             "--checkpoint", path("run"), "--checkpoint-every", "1", "--keep", "4", "--output",
             path("m.pth"), "--csv", path("m.csv")});
  ASSERT_EQ(began.exit_code, 0) << began.errors;
  for (const char* const file : {"m.pth", "m.csv"}) std::filesystem::remove(path(file));
  const auto resumed = paretoctl({"train", "--resume", path("run"), "--epochs", "2"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors,
              AllOf(HasSubstr("going on with --checkpoint-every 1 --keep 4 --output"),
                    HasSubstr("going on with local-0, local-1 in place of one, two")));
  for (const char* const file : {"m.pth", "m.csv"}) EXPECT_NE(slurp(path(file)), "") << file;
  for (const int step : {5, 6, 7, 8}) EXPECT_TRUE(wait_for_step("run", step)) << step;
}

TEST_F(Train, GoesOnAfterALostDeviceToTheSameBits) {
  const std::string expected = uncut();
  const auto devices = [&](const Daemon& one, const Daemon& two) {
    return inventory({{"one", one.address()}, {"two", two.address()}});
  };
  const Daemon one("one", folder());
  {
    Daemon two("two", folder());
    auto arguments = with({"--split", "after:features.7", "--devices", devices(one, two),
                           "--checkpoint", path("run"), "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 2)) << training.errors();
    two.process().signal(SIGKILL);
    EXPECT_EQ(training.wait(), 1);
    EXPECT_THAT(training.errors(), AllOf(HasSubstr("two"), HasSubstr("--resume")));
  }
  const Daemon again("again", folder());
  const auto resumed = paretoctl({"train", "--resume", path("run"), "--devices",
                                  devices(one, again), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

// Twenty times the coordinator or one of the devices is killed, wherever the training stands then.
TEST_F(Train, KilledAtAnyMomentGoesOnToTheSameBits) {
  const std::vector<std::string> longer{"--epochs", "20"};
  auto whole = longer;
  whole.insert(whole.end(), {"--output", path("uncut.pth")});
  ASSERT_EQ(train(whole).exit_code, 0);
  std::mt19937 random(3);
  std::array<std::unique_ptr<Daemon>, 2> daemons;
  const auto inventory_of_both = [&] {
    for (std::size_t i = 0; i < daemons.size(); ++i) {
      if (!daemons[i]) daemons[i] = std::make_unique<Daemon>(i == 0 ? "one" : "two", folder());
    }
    return inventory({{"one", daemons[0]->address()}, {"two", daemons[1]->address()}});
  };
  for (int round = 0; round < 20; ++round) {
    auto arguments = longer;
    arguments.insert(arguments.end(), {"--split", "after:features.7", "--checkpoint", path("run")});
    arguments =
        round == 0 ? with(arguments) : std::vector<std::string>{"train", "--resume", path("run")};
    arguments.insert(arguments.end(),
                     {"--devices", inventory_of_both(), "--json", "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(training.wait_for_output("\"event\":\"step\"")) << training.errors();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
    const std::size_t victim = random() % 3;
    if (victim < daemons.size()) {
      daemons[victim]->process().signal(SIGKILL);
      training.wait();
      daemons[victim].reset();
    } else {
      training.signal(SIGKILL);
      training.wait();
    }
    if (HasFailure()) return;
  }
  const auto resumed = paretoctl({"train", "--resume", path("run"), "--devices",
                                  inventory_of_both(), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), slurp(path("uncut.pth")));
}

TEST_F(Train, CtrlCEndsWithACheckpoint) {
  auto arguments = with({"--checkpoint", path("run"), "--epochs", "1000"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process training(arguments);
  ASSERT_TRUE(training.wait_for_output("1/1000")) << training.errors();
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 4) << training.errors();
  EXPECT_THAT(training.output(), AllOf(HasSubstr("stopped: --resume"), HasSubstr(path("run"))));
}

TEST_F(Train, AFullDiskLeavesTheLastCheckpointWhole) {
  const std::string expected = uncut();
  {
    auto arguments = with({"--checkpoint", path("run"), "--checkpoint-every", "1"});
    arguments.insert(arguments.begin(), "paretoctl");
    Process training(arguments);
    ASSERT_TRUE(wait_for_step("run", 2)) << training.errors();
    training.signal(SIGKILL);
    training.wait();
  }
  // Files may not grow beyond 1 MiB.
  const std::string paretoctl_path = test::programs_folder() + "/paretoctl";
  const auto full =
      run({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" train --resume \"$1\"",
           paretoctl_path, path("run")});
  EXPECT_EQ(full.exit_code, 1) << full.output;
  EXPECT_THAT(full.errors, AllOf(HasSubstr("tensors.bin"), HasSubstr("the last checkpoint")));
  const auto resumed =
      paretoctl({"train", "--resume", path("run"), "--output", path("resumed.pth")});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(slurp(path("resumed.pth")), expected);
}

TEST_F(Train, CtrlCDoesNotWaitForADeviceThatHangs) {
  const Daemon one("one", folder());
  Daemon two("two", folder());
  auto arguments =
      with({"--split", "after:features.7", "--devices",
            inventory({{"one", one.address()}, {"two", two.address()}}), "--checkpoint",
            path("run"), "--checkpoint-every", "1", "--epochs", "1000", "--timeout", "1h"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process training(arguments);
  ASSERT_TRUE(wait_for_step("run", 2)) << training.errors();
  two.process().signal(SIGSTOP);
  training.signal(SIGINT);
  EXPECT_EQ(training.wait(), 4) << training.errors();
  // The step in hand may not have needed the device any more: then it ends in order.
  EXPECT_THAT(
      training.errors() + training.output(),
      AnyOf(AllOf(HasSubstr("does not answer, and is not waited for"),
                  HasSubstr("--resume " + path("run") + " goes on from the last checkpoint")),
            HasSubstr("stopped: --resume " + path("run") + " goes on")));
}

}  // namespace
}  // namespace pareto::test
