// What people get wrong, and the sentence they get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using testing::HasSubstr;

class BadInput : public EndToEnd {
 protected:
  static void expect(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& sentence) {
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, exit_code) << done.errors;
    EXPECT_THAT(done.errors, HasSubstr(sentence));
    EXPECT_EQ(done.output, "");
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
};

TEST_F(BadInput, UnknownModelNamesTheNearest) {
  expect({"splits", "--model", "mobilnetv2"}, 2, "mobilenetv2");
}

TEST_F(BadInput, FilesThatAreNoTorchScript) {
  expect({"splits", "--model", path("absent.pt"), "--input-shape", "3x8x8"}, 2, "absent.pt");
  expect({"splits", "--model", write("text.pt", "hello"), "--input-shape", "3x8x8"}, 2, "text.pt");
}

TEST_F(BadInput, UnknownSplitNamesTheNearest) {
  auto arguments = small_sweep({"--splits", "after:features.33"});
  expect(arguments, 2, "after:features.3");
}

TEST_F(BadInput, NumbersOutOfRange) {
  expect(small_sweep({"--batch", "0"}), 2, "batch");
  expect(small_sweep({"--transport", "tpc"}), 2, "tcp");
  expect(small_sweep({"--engine", "onnx"}), 2, "plain");
  expect(small_sweep({"--objectives", "latency,cost"}), 2, "say \"price_per_hour");
  expect({"splits", "--model", "squeezenet1_0", "--input-shape", "3xfourx4"}, 2, "3xfourx4");
  expect({"splits", "--model", "squeezenet1_0", "--input-shape", "5x64x64"}, 2, "5");
  expect({"sweeep"}, 2, "sweep");
  expect(small_sweep({"--no-such-flag"}), 2, "--no-such-flag");
}

TEST_F(BadInput, ANetworkThatIsNone) {
  expect(small_sweep({"--network", path("absent.yaml")}), 2, "absent.yaml");
  expect(small_sweep({"--network", write("odd.yaml", "delai: 5ms\n")}), 2, "did you mean delay");
  expect(small_sweep({"--network", write("lte.yaml", "delay: 5ms\n"), "--devices",
                      inventory({{"ghost", "127.0.0.1:1"}})}),
         2, "netem_interface");
}

TEST_F(BadInput, WeightsThatDoNotFit) {
  auto arguments = small_sweep({"--weights", write("bad.pth", "no checkpoint")});
  expect(arguments, 2, "bad.pth");
}

TEST_F(BadInput, ADeviceThatDoesNotAnswer) {
  expect(small_sweep({"--devices", inventory({{"ghost", "127.0.0.1:1"}})}), 3, "ghost");
  expect(small_sweep(
             {"--devices", write("inventory.yaml", "devices:\n  - name: a\n    adress: b:1\n")}),
         2, "inventory.yaml:3");
}

TEST_F(BadInput, APortInUse) {
  Daemon daemon("first", folder());
  const auto second = run({"paretod", "--listen", daemon.address(), "--data", "tcp=127.0.0.1:0",
                           "--state-dir", path("second")});
  EXPECT_EQ(second.exit_code, 3) << second.errors;
  EXPECT_THAT(second.errors, HasSubstr(daemon.address()));
}

TEST_F(BadInput, AShardLargerThanTheDevicesMemoryFailsItsTrialsOnly) {
  Daemon large("large", folder());
  Daemon small("small", folder(), {"--memory-limit", "1MiB"});
  const auto done =
      paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp", "--devices",
                             inventory({{"large", large.address()}, {"small", small.address()}})}));
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  EXPECT_THAT(done.output + done.errors, HasSubstr("memory"));
}

TEST_F(BadInput, AFullDiskStopsTheSweepAndLeavesTheStoreReadable) {
  // 200 KiB a file is room for the schema and some trials, not for all.
  std::vector<std::string> arguments{"/bin/bash", "-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"",
                                     "sh", test::programs_folder() + "/paretoctl"};
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto sweep = small_sweep(
      {"--splits", "all", "--exhaustive", "--requests", "60", "--rounds", "1", "--devices",
       inventory({{"first", first.address()}, {"second", second.address()}})});
  arguments.insert(arguments.end(), sweep.begin(), sweep.end());
  const auto done = run(arguments);
  EXPECT_TRUE(done.exit_code == 1 || done.exit_code == 4) << done.exit_code << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("disk full"));
  const auto front = paretoctl({"runs", "--store", path("results.db")});
  EXPECT_EQ(front.exit_code, 0) << front.errors;
}

TEST_F(BadInput, WhatCannotBeReadToItsEndIsSaid) {
  const std::string line = write("line", std::string(2 << 20, 'x'));
  expect({"history", line}, 2, "line 1 has over 1048576 bytes");
  expect({"history", "/dev/zero"}, 2, "line 1 has over 1048576 bytes");
  expect({"history", "/proc/self/mem"}, 2, "cannot be read behind line 0");
  std::filesystem::create_symlink("loop", path("loop"));
  expect({"history", path("loop")}, 2, "no log can be read there");

  const std::string plan = path("plan.json");
  std::vector<std::string> run{"run", "--split", "none", "--requests", "1", "--save-plan", plan};
  for (const std::string& one : small_model()) run.push_back(one);
  const auto made = paretoctl(run);
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  // Without a log nobody would ask for the rest of the requests again.
  expect({"deploy", "--plan", plan, "--requests", line}, 2, "over 1048576 bytes");
  expect({"deploy", "--plan", plan, "--requests", folder().string()}, 2, "is a folder");
}

}  // namespace
}  // namespace pareto::test
