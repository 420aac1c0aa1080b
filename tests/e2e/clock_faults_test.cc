// The clock of the day is set forward and back while a sweep measures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"
#include "tests/support/tls.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;

class ClockFaults : public FaultTest {
 protected:
  ClockFaults() { set(seconds(0)); }

  /// Sets the clocks of the programs that were started with it, that far ahead.
  void set(Nanoseconds ahead) const {
    const std::int64_t count = ahead.count();
    std::fstream file(path("step"), std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path("step"), std::ios::binary | std::ios::out);
    file.write(reinterpret_cast<const char*>(&count), sizeof(count));
  }
  std::vector<std::string> clock() const {
    return {fmt::format("LD_PRELOAD={}", PARETO_STEP_CLOCK), "STEP_CLOCK=" + path("step")};
  }
  std::unique_ptr<Daemon> device(const std::string& name) const {
    std::vector<std::string> program{"/usr/bin/env"};
    const auto variables = clock();
    program.insert(program.end(), variables.begin(), variables.end());
    program.push_back(std::string(PARETO_BIN_DIR) + "/paretod");
    return std::make_unique<Daemon>(
        name, folder(),
        std::vector<std::string>{"--credentials",
                                 authority_.credentials({name, tls::Role::kDevice}, {}).string()},
        program);
  }

  TestAuthority authority_{folder(), "authority"};
};

TEST_F(ClockFaults, ASweepMeasuresWhatItMeasuredBefore) {
  FaultRow row{.fault =
                   "the clocks of coordinator and devices are set by ± 10 s during a sweep "
                   "over TLS",
               .expected =
                   "all trials are measured, no figure has seconds in it that were not; "
                   "the run ends after it began",
               .cycles = cycles(4, 40)};
  const auto first = device("first");
  const auto second = device("second");
  const std::string store = path("results.db");
  const auto sweep = [&] {
    return with_model({"paretoctl", "sweep", "--splits", "after:features.3", "--transport",
                       "tcp,grpc", "--rounds", "3", "--requests", "8", "--store", store, "--report",
                       "none", "--json", "--devices",
                       inventory({{"first", first->address()}, {"second", second->address()}}),
                       "--credentials",
                       authority_.credentials({"laptop", tls::Role::kCoordinator}, {}).string()});
  };
  const auto quiet = run(sweep(), clock());
  ASSERT_EQ(quiet.exit_code, 0) << quiet.errors;
  double worst = 0;
  std::size_t steps = 0;
  while (steps < row.cycles && !HasFailure()) {
    Process stepped(sweep(), clock());
    // Each line of progress is a moment of its own.
    for (std::size_t i = 1; stepped.wait_for_output("\n", seconds(120), i) && i < 4; ++i) {
      set(steps % 2 == 0 ? seconds(10) : seconds(-10));
      ++steps;
    }
    ASSERT_EQ(stepped.wait(), 0) << stepped.errors();
    set(seconds(0));
    const json before = json::parse(quiet.output);
    const json after = json::parse(stepped.output());
    ASSERT_EQ(after["trials"].size(), before["trials"].size());
    for (const json& trial : after["trials"]) {
      EXPECT_EQ(trial["status"], "ok") << trial;
      const auto slowest = trial.at("latency_ms").at("p99").get<double>();
      worst = std::max(worst, slowest);
      EXPECT_GT(slowest, 0);
      EXPECT_LT(slowest, 5000) << trial;
      EXPECT_GT(trial.at("throughput").at("samples_per_s").get<double>(), 0.2) << trial;
    }
  }
  const auto listed = paretoctl({"runs", "--store", store, "--json"});
  for (const json& one : json::parse(listed.output)) EXPECT_LE(one["started"], one["finished"]);
  row.add("steps", steps);
  row.add("latency, p99, longest", worst, "ms");
  record(row);
}

}  // namespace
}  // namespace pareto::test
