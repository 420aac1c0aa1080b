// Profiles, predictions and the plans that come of them, with real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Planning : public EndToEnd {
 protected:
  /// A command on the small model with this test's store.
  std::vector<std::string> planning(const std::string& command,
                                    const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{command,
                                       "--store",
                                       path("results.db"),
                                       "--transport",
                                       "tcp",
                                       "--splits",
                                       "after:features.3,after:features.9"};
    const std::vector<std::string> model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(Planning, APredictedPlanIsAFileThatRuns) {
  const Finished done = paretoctl(
      planning("plan", {"--prefer", "throughput", "--all", "--save", path("plan.json"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  const json& network = document["networks"][0];
  ASSERT_FALSE(network["front"].empty());
  double latency = 0;
  double throughput = 0;
  for (const json& point : network["front"]) {
    EXPECT_GT(point["latency_ms"], latency);
    EXPECT_GT(point["samples_per_s"], throughput);
    EXPECT_GE(point["latency_ms"], point["unloaded_latency_ms"]);
    latency = point["latency_ms"];
    throughput = point["samples_per_s"];
  }
  EXPECT_EQ(network["chosen"], network["front"].size() - 1);
  EXPECT_GT(network["plans"].size(), network["front"].size());

  json saved;
  std::ifstream(path("plan.json")) >> saved;
  EXPECT_EQ(saved, network["front"].back()["plan"]);
  const Finished run = paretoctl({"run", "--plan", path("plan.json"), "--requests", "3", "--json",
                                  "--num-classes", "10", "--input-shape", "3x64x64"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
}

TEST_F(Planning, ProfilesAreKept) {
  const Finished first = paretoctl(planning("profile", {"--json"}));
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.errors, HasSubstr("profiling local-1"));
  const json document = json::parse(first.output);
  ASSERT_EQ(document["devices"].size(), 2U);
  EXPECT_EQ(document["links"].size(), 6U) << "between two devices and the coordinator, both ways";
  for (const json& link : document["links"]) EXPECT_FALSE(link["points"].empty());

  const Finished again = paretoctl(planning("profile", {"--json"}));
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, testing::Not(HasSubstr("profiling local-1")));
  EXPECT_EQ(json::parse(again.output)["devices"], document["devices"]);

  const Finished fresh = paretoctl(planning("profile", {"--fresh"}));
  ASSERT_EQ(fresh.exit_code, 0) << fresh.errors;
  EXPECT_THAT(fresh.errors, HasSubstr("profiling local-0"));
  EXPECT_THAT(fresh.output, HasSubstr("the whole model"));
}

TEST_F(Planning, LimitsAndPinsHold) {
  const Finished pinned =
      paretoctl(planning("plan", {"--first", "local-1", "--last", "local-0", "--json"}));
  ASSERT_EQ(pinned.exit_code, 0) << pinned.errors;
  const json document = json::parse(pinned.output);
  for (const json& point : document["networks"][0]["front"]) {
    EXPECT_EQ(point["plan"]["stages"][0]["device"], "local-1");
    EXPECT_EQ(point["plan"]["stages"].back()["device"], "local-0");
  }
  const Finished impossible = paretoctl(planning("plan", {"--max-latency", "1us"}));
  EXPECT_EQ(impossible.exit_code, 1);
  EXPECT_THAT(impossible.output, HasSubstr("No plan keeps the limits"));
  for (const auto& [flags, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--max-memory", "local-7=1GiB"}, "did you mean local-0"},
           {{"--max-memory", "local-0"}, "DEVICE=SIZE"},
           {{"--prefer", "cheap"}, "balanced, latency or throughput"},
           {{"--search", "magic"}, "exact"},
           {{"--max-latency", "fast"}, "--max-latency"},
           {{"--first", "nobody"}, "no device"}}) {
    const Finished refused = paretoctl(planning("plan", flags));
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr(said));
  }
}

}  // namespace
}  // namespace pareto::test
