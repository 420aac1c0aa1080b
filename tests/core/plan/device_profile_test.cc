#include "core/plan/device_profile.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pareto {
namespace {

using testing::HasSubstr;

DeviceProfile profile() {
  return {"pi-1",
          "Cortex-A72",
          "1.13.1",
          "tiny",
          std::string(64, 'a'),
          "auto",
          "bf16",
          2,
          8,
          "2026-01-31T10:15:02Z",
          Nanoseconds(40'000),
          {Nanoseconds(10), Nanoseconds(20)},
          {{0, 1, Nanoseconds(9), Nanoseconds(8), 100},
           {0, 2, Nanoseconds(25), Nanoseconds(24), 300},
           {1, 2, Nanoseconds(18), Nanoseconds(17), 200}}};
}

TEST(DeviceProfileDocument, ThereAndBack) {
  const auto back = device_profile_from_json(to_json(profile()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, profile());
}

TEST(DeviceProfileDocument, TheExampleOfTheFormat) {
  DeviceProfile small = profile();
  small.shards = {{0, 2, Nanoseconds(25), Nanoseconds(24), 300}};
  EXPECT_EQ(
      to_json(small),
      R"({"format":2,"device":"pi-1","cpu":"Cortex-A72","torch":"1.13.1","model":"tiny","digest":")" +
          std::string(64, 'a') +
          R"(","engine":"auto","precision":"bf16","threads":2,"batch":8,)"
          R"("measured":"2026-01-31T10:15:02Z","overhead_ns":40000,"operators_ns":[10,20],)"
          R"("shards":[{"begin":0,"end":2,"alone_ns":25,"busy_ns":24,"memory_bytes":300}]})");
}

TEST(DeviceProfileDocument, RefusesWhatIsNone) {
  const auto message = [](auto spoil) {
    auto json = nlohmann::json::parse(to_json(profile()));
    spoil(json);
    const auto result = device_profile_from_json(json.dump());
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_THAT(message([](auto& j) { j["format"] = 1; }), HasSubstr("format 1"));
  EXPECT_THAT(message([](auto& j) { j.erase("operators_ns"); }), HasSubstr("operators_ns"));
  EXPECT_THAT(message([](auto& j) { j["operators_ns"] = nlohmann::json::array(); }),
              HasSubstr("operators"));
  EXPECT_THAT(message([](auto& j) { j["operators_ns"][0] = -1; }), HasSubstr("negative"));
  EXPECT_THAT(message([](auto& j) { j["overhead_ns"] = 1e18; }), HasSubstr("hour"));
  EXPECT_THAT(message([](auto& j) { j["batch"] = 0; }), HasSubstr("batch"));
  EXPECT_THAT(message([](auto& j) { j["shards"][0]["end"] = 3; }),
              HasSubstr("operators 0 to 3 of 2"));
  EXPECT_THAT(message([](auto& j) { std::swap(j["shards"][0], j["shards"][2]); }),
              HasSubstr("order"));
  EXPECT_THAT(message([](auto& j) { j["shards"].erase(1); }), HasSubstr("whole model"));
  EXPECT_FALSE(device_profile_from_json("{"));
}

}  // namespace
}  // namespace pareto
