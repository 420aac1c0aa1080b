// Prometheus' own tool over the configuration, the rules, and the tests of the alerts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace pareto::test {
namespace {

using testing::HasSubstr;

constexpr const char* kTool = "/usr/bin/promtool";
constexpr const char* kFolder = PARETO_SOURCE_DIR "/deploy/prometheus/";

Finished promtool(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{kTool};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(argv);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

TEST(PrometheusFiles, TheConfigurationAndItsRulesAreGood) {
  const Finished checked = promtool({"check", "config", kFolder + std::string("prometheus.yml")});
  EXPECT_EQ(checked.exit_code, 0) << "prometheus is needed: " << checked.errors;
  EXPECT_THAT(checked.output, HasSubstr("recording.yml"));
  EXPECT_THAT(checked.output, HasSubstr("alerts.yml"));
}

TEST(PrometheusFiles, AlertsFireWhenTheyShouldAndClear) {
  const Finished tested = promtool({"test", "rules", kFolder + std::string("tests/alerts.yml")});
  EXPECT_EQ(tested.exit_code, 0) << tested.output << tested.errors;
  EXPECT_THAT(tested.output + tested.errors, HasSubstr("SUCCESS"));
}

TEST(PrometheusFiles, EveryAlertHasATest) {
  const std::string alerts = slurp(kFolder + std::string("rules/alerts.yml"));
  const std::string tests = slurp(kFolder + std::string("tests/alerts.yml"));
  const std::string key = "- alert: ";
  int found = 0;
  for (std::size_t at = alerts.find(key); at != std::string::npos; at = alerts.find(key, at + 1)) {
    const std::string name =
        alerts.substr(at + key.size(), alerts.find('\n', at) - at - key.size());
    EXPECT_THAT(tests, HasSubstr("alertname: " + name + "\n        exp_alerts:\n"))
        << "no test sees " << name << " fire";
    ++found;
  }
  EXPECT_GE(found, 4);
}

TEST(PrometheusFiles, EveryAlertNamesASectionOfTheRunbook) {
  const std::string alerts = slurp(kFolder + std::string("rules/alerts.yml"));
  const std::string runbook = slurp(PARETO_SOURCE_DIR "/docs/runbook.md");
  std::set<std::string> names;
  const std::regex alert("- alert: (\\w+)");
  for (auto at = std::sregex_iterator(alerts.begin(), alerts.end(), alert);
       at != std::sregex_iterator(); ++at) {
    names.insert((*at)[1]);
  }
  EXPECT_GE(names.size(), 8U);
  for (const std::string& name : names) {
    // GitHub, GitLab and Gitea make such an anchor of a heading.
    EXPECT_THAT(alerts, HasSubstr("runbook_url: docs/runbook.md#" + lower_case(name) + "\n"));
    EXPECT_THAT(runbook, HasSubstr("\n## " + name + "\n")) << "no section says what to do";
  }
}

}  // namespace
}  // namespace pareto::test
