// Rows of FAULTS.md, as tests leave them.
#include "tests/support/fault_figures.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using std::chrono::milliseconds;

class FaultRows : public EndToEnd {
 protected:
  // `./dev test-faults` sets them for this program as well.
  ~FaultRows() override {
    restore("PARETO_FAULT_FIGURES", figures_);
    restore("PARETO_LONG_FAULTS", long_);
  }
  static void restore(const char* name, const std::string& value) {
    if (value.empty()) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value.c_str(), 1);
    }
  }
  static std::string value_of(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

 private:
  std::string figures_ = value_of("PARETO_FAULT_FIGURES");
  std::string long_ = value_of("PARETO_LONG_FAULTS");
};

TEST_F(FaultRows, AreWrittenForTheTestThatRecordsThem) {
  ::setenv("PARETO_FAULT_FIGURES", path("figures/rows").c_str(), 1);
  ::setenv("PARETO_LONG_FAULTS", "1", 1);
  FaultRow row{.fault = "a stage is killed", .expected = "≤ 5 s", .cycles = cycles(3, 1000)};
  row.add("lost", std::size_t{0});
  row.add("back", {milliseconds(30), milliseconds(10), milliseconds(20)});
  row.add("found", std::vector<Nanoseconds>{milliseconds(7)});
  row.add("never", std::vector<Nanoseconds>{});
  record(row);
  const auto written = nlohmann::json::parse(
      slurp(path("figures/rows/FaultRows.AreWrittenForTheTestThatRecordsThem.json")));
  EXPECT_EQ(written, nlohmann::json::parse(R"({
    "test": "FaultRows.AreWrittenForTheTestThatRecordsThem", "fault": "a stage is killed",
    "expected": "≤ 5 s", "cycles": 1000, "long": true, "held": true, "figures": [
      {"name": "lost", "value": 0.0, "unit": ""},
      {"name": "back, median", "value": 20.0, "unit": "ms"},
      {"name": "back, longest", "value": 30.0, "unit": "ms"},
      {"name": "found", "value": 7.0, "unit": "ms"}]})"));
}

TEST_F(FaultRows, AreFewCyclesAndNoFileUnlessTheyAreAskedFor) {
  ::unsetenv("PARETO_FAULT_FIGURES");
  ::unsetenv("PARETO_LONG_FAULTS");
  EXPECT_EQ(cycles(3, 1000), 3U);
  record({.fault = "a stage is killed", .expected = "≤ 5 s"});
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

}  // namespace
}  // namespace pareto::test
