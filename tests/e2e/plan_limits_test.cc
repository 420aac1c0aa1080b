// Plans that keep what their devices allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/planning_fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Planning, AMemoryLimitChangesThePlan) {
  const auto plans = [this](const std::vector<std::string>& more) {
    std::vector<std::string> flags{"--json", "--all"};
    flags.insert(flags.end(), more.begin(), more.end());
    const Finished done = paretoctl(planning("plan", flags));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output)["networks"][0]["plans"];
  };
  const auto on = [](const json& all, const char* device) {
    return std::ranges::count_if(all, [device](const json& plan) {
      const json& stages = plan["plan"]["stages"];
      return stages.size() == 1 && stages[0]["device"] == device;
    });
  };
  const json free = plans({});
  EXPECT_EQ(on(free, "local-0"), 1);
  const json limited = plans({"--max-memory", "local-0=4MiB"});
  EXPECT_EQ(on(limited, "local-0"), 0) << "the model needs 5.9 MiB";
  EXPECT_EQ(on(limited, "local-1"), 1);
  EXPECT_LT(limited.size(), free.size());
  EXPECT_GT(limited.size(), 1U) << "a part of it fits";
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
  const Finished unsaved =
      paretoctl(planning("plan", {"--max-latency", "1us", "--save", path("none.json")}));
  EXPECT_EQ(unsaved.exit_code, 1);
  EXPECT_THAT(unsaved.output, HasSubstr("No plan keeps the limits"));
  EXPECT_THAT(unsaved.errors, HasSubstr("none.json: nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
  for (const auto& [flags, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--max-memory", "local-7=1GiB"}, "did you mean local-0"},
           {{"--max-memory", "local-0"}, "DEVICE=SIZE"},
           {{"--prefer", "cheap"}, "balanced, latency or throughput"},
           {{"--search", "magic"}, "exact"},
           {{"--max-latency", "fast"}, "--max-latency"},
           {{"--first", "nobody"}, "no device"},
           {{"--also", "price"}, "energy, memory, loss"},
           {{"--also", "memory", "--prefer", "energy"}, "what --also names"},
           {{"--also", "energy"}, "device local-0"},
           {{"--codec", "auto"}, "plan chooses itself"},
           {{"--codec", "zip"}, "no codec is called"},
           {{"--codec", "int8", "--codec-error", "0"}, "add none to --codec"},
           {{"--transport", "shm+tcp"}, "a mix is of the links of one chain"}}) {
    const Finished refused = paretoctl(planning("plan", flags));
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr(said));
  }
}

}  // namespace
}  // namespace pareto::test
