#include "tests/support/fault_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pareto::test {
namespace {

double milliseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

void FaultRow::add(const std::string& name, std::vector<Nanoseconds> times) {
  if (times.empty()) return;
  std::ranges::sort(times);
  const Nanoseconds median = times[times.size() / 2];
  // Of a single one the two are the same.
  if (times.size() > 1) add(name + ", median", milliseconds(median), "ms");
  add(times.size() > 1 ? name + ", longest" : name, milliseconds(times.back()), "ms");
}

bool long_faults() {
  const char* asked = std::getenv("PARETO_LONG_FAULTS");
  return asked != nullptr && std::string(asked) == "1";
}

std::size_t cycles(std::size_t brief, std::size_t full) { return long_faults() ? full : brief; }

void record(const FaultRow& row) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  ASSERT_NE(test, nullptr) << "a row is of a test";
  const std::string name = std::string(test->test_suite_name()) + "." + test->name();
  auto figures = nlohmann::ordered_json::array();
  for (const FaultFigure& figure : row.figures) {
    EXPECT_TRUE(std::isfinite(figure.value)) << figure.name;
    figures.push_back({{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}});
  }
  const char* folder = std::getenv("PARETO_FAULT_FIGURES");
  if (folder == nullptr) return;
  const nlohmann::ordered_json document{
      {"test", name},         {"fault", row.fault},    {"expected", row.expected},
      {"cycles", row.cycles}, {"long", long_faults()}, {"held", !test->result()->Failed()},
      {"figures", figures}};
  std::filesystem::create_directories(folder);
  // Parameterised tests have slashes in their names.
  std::string file = name;
  std::ranges::replace(file, '/', '-');
  std::ofstream out(std::filesystem::path(folder) / (file + ".json"));
  out << document.dump(2) << "\n";
  EXPECT_TRUE(out.flush()) << folder << ": the row could not be written";
}

}  // namespace pareto::test
