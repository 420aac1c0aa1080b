// Pipelines over two architectures: this machine's, and arm64 in an emulated Debian, whose root
// PARETO_ARM64_ROOT names. Run by `./dev portability arm64`.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;

/// Returns a program of the other build, in its root.
std::vector<std::string> on_arm64(const std::string& program) {
  const std::string source = PARETO_SOURCE_DIR;
  const char* const root = std::getenv("PARETO_ARM64_ROOT");
  return {source + "/tests/portability/root", "run", root == nullptr ? "" : root,
          source + "/build/arm64/bin/" + program};
}

/// Returns the coordinator of this build.
std::vector<std::string> on_this() { return {"paretoctl"}; }

class TwoArchitectures : public EndToEnd {
 protected:
  void SetUp() override {
    ASSERT_NE(std::getenv("PARETO_ARM64_ROOT"), nullptr) << "run ./dev portability arm64";
    const std::string program = slurp(on_arm64("paretod").back());
    Elf64_Ehdr header{};
    ASSERT_GT(program.size(), sizeof header);
    std::memcpy(&header, program.data(), sizeof header);
    ASSERT_EQ(header.e_machine, EM_AARCH64);
    // From a file: what LibTorch draws at random differs a little between processors.
    const auto made =
        run({"/usr/bin/python3", std::string(PARETO_SOURCE_DIR) + "/tests/e2e/make_models.py",
             folder().string()});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    write_npy(path("input.npy"), {1, 3, 64, 64}, 0);
  }

  /// Returns what `paretoctl run` of a coordinator measured; the output of the model is in that
  /// file.
  json run_pipeline(const std::vector<std::string>& coordinator,
                    const std::vector<std::string>& more, const std::string& output) const {
    std::vector<std::string> arguments = coordinator;
    arguments.insert(arguments.end(),
                     {"run", "--input-shape", "3x64x64", "--input", path("input.npy"), "--output",
                      path(output), "--requests", "2", "--timeout", "2m", "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output, nullptr, false)["trial"];
  }
};

TEST_F(TwoArchitectures, APlanMadeOnEitherRunsFromBothOverBoth) {
  const Daemon here("here", folder());
  const Daemon there("there", folder(), {}, on_arm64("paretod"));
  using Devices = std::vector<std::pair<std::string, std::string>>;
  const Devices devices{{"here", here.address()}, {"there", there.address()}};
  const auto made_and_run = [&](const std::vector<std::string>& maker,
                                const std::vector<std::string>& other, const Devices& order) {
    const std::string named = inventory(order);
    const json made =
        run_pipeline(maker,
                     {"--model", path("swin_traced.pt"), "--split", "percent:40", "--engine",
                      "plain", "--devices", named, "--save-plan", path("plan.json")},
                     "made.npy");
    const json again =
        run_pipeline(other, {"--plan", path("plan.json"), "--devices", named}, "again.npy");
    EXPECT_EQ(made["plan"], again["plan"]);
    for (const json& trial : {made, again}) {
      ASSERT_EQ(trial["stages"].size(), 2U);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(trial["stages"][i]["device"], order[i].first);
      // Other processors round in another order than the coordinator, which runs the whole model,
      // but no worse.
      EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-5);
    }
    // The same stages on the same devices: any coordinator gets the same bits.
    EXPECT_FALSE(slurp(path("made.npy")).empty());
    EXPECT_EQ(slurp(path("made.npy")), slurp(path("again.npy")));
  };
  made_and_run(on_this(), on_arm64("paretoctl"), devices);
  made_and_run(on_arm64("paretoctl"), on_this(), {devices[1], devices[0]});
}

TEST_F(TwoArchitectures, CutOrWholeArm64ComputesTheSameBits) {
  const Daemon first("first", folder(), {}, on_arm64("paretod"));
  const Daemon second("second", folder(), {}, on_arm64("paretod"));
  const std::string devices = inventory({{"first", first.address()}, {"second", second.address()}});
  const std::vector<std::string> flags{
      "--model", path("swin_traced.pt"), "--engine", "plain", "--devices", devices};
  std::vector<std::string> cut = flags;
  cut.insert(cut.end(), {"--split", "percent:40"});
  run_pipeline(on_this(), flags, "whole.npy");
  const json trial = run_pipeline(on_arm64("paretoctl"), cut, "cut.npy");
  EXPECT_EQ(trial["stages"].size(), 2U);
  EXPECT_FALSE(slurp(path("whole.npy")).empty());
  EXPECT_EQ(slurp(path("whole.npy")), slurp(path("cut.npy")));
  // That coordinator ran the whole model too.
  EXPECT_EQ(trial["output_error"]["max"].get<double>(), 0);
}

}  // namespace
}  // namespace pareto::test
