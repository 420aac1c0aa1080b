#include "core/plan/device_profile.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pareto::plan {
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
          0.25,
          2,
          8,
          400,
          2,
          "2026-01-31T10:15:02Z",
          Nanoseconds(40'000),
          {Nanoseconds(10), Nanoseconds(20)},
          {{0, 1, Nanoseconds(9), Nanoseconds(8), 300, 64},
           {1, 2, Nanoseconds(18), Nanoseconds(17), 200, 32}},
          {{0, 2}},
          {1, 0.96, 1.25},
          "cpu",
          4,
          0.46};
}

TEST(DeviceProfileDocument, ThereAndBack) {
  const auto back = device_profile_from_json(to_json(profile()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, profile());
}

TEST(DeviceProfileDocument, KeepsASchedule) {
  DeviceProfile one = profile();
  for (const char* const schedule : {"clusters", R"({"split":{"parts":2}})"}) {
    one.schedule = schedule;
    EXPECT_EQ(device_profile_from_json(to_json(one)).value(), one) << schedule;
  }
  auto wrong = nlohmann::json::parse(to_json(one));
  wrong["schedule"] = 7;
  EXPECT_THAT(device_profile_from_json(wrong.dump()).error().message,
              HasSubstr("profile: schedule: neither the name"));
}

TEST(DeviceProfileDocument, TheExampleOfTheFormat) {
  DeviceProfile small = profile();
  small.shards.pop_back();
  EXPECT_EQ(
      to_json(small),
      R"({"format":3,"device":"pi-1","cpu":"Cortex-A72","torch":"1.13.1","model":"tiny","digest":")" +
          std::string(64, 'a') +
          R"(","engine":"auto","precision":"bf16","threads":2,"batch":8,"memory_limit_bytes":400,)"
          R"("machine_shared_by":2,"measured":"2026-01-31T10:15:02Z","overhead_ns":40000,"operators_ns":[10,20],)"
          R"("shards":[{"begin":0,"end":1,"alone_ns":9,"busy_ns":8,"memory_bytes":300,"output_bytes":64}],)"
          R"("too_large":[[0,2]],"jitter":[1.0,0.96,1.25],"runs_on":"cpu","cores":4,"max_error":0.25,)"
          R"("others_share":0.46})");
}

TEST(DeviceProfileDocument, KnowsWhatThereIsNoRoomFor) {
  DeviceProfile four = profile();
  four.too_large = {{1, 3}};
  EXPECT_EQ(four.no_room_for(1, 3), four.too_large.data());
  EXPECT_EQ(four.no_room_for(0, 4), four.too_large.data());
  EXPECT_EQ(four.no_room_for(0, 2), nullptr);
  EXPECT_EQ(four.no_room_for(2, 4), nullptr);
  EXPECT_EQ(four.find_shard(1, 2), &four.shards.back());
  EXPECT_EQ(four.find_shard(0, 2), nullptr);
}

TEST(DeviceProfileDocument, OlderOnesKnowNoJitterNorWhatShardsMakeNorWhatTheMachineDid) {
  auto json = nlohmann::json::parse(to_json(profile()));
  json.erase("jitter");
  json.erase("machine_shared_by");
  json.erase("runs_on");
  json.erase("cores");
  json.erase("others_share");
  for (auto& shard : json["shards"]) shard.erase("output_bytes");
  const auto older = device_profile_from_json(json.dump());
  ASSERT_TRUE(older) << older.error().message;
  DeviceProfile expected = profile();
  expected.jitter.clear();
  expected.machine_shared_by = 1;
  expected.runs_on.clear();
  expected.cores = 0;
  expected.others_share.reset();
  for (ShardTime& shard : expected.shards) shard.output_bytes = 0;
  EXPECT_EQ(*older, expected);
  EXPECT_EQ(to_json(*older).find("output_bytes"), std::string::npos) << "0 would be a figure";
}

TEST(DeviceProfileDocument, RefusesWhatIsNone) {
  const auto message = [](auto spoil) {
    auto json = nlohmann::json::parse(to_json(profile()));
    spoil(json);
    const auto result = device_profile_from_json(json.dump());
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_THAT(message([](auto& j) { j["format"] = 2; }), HasSubstr("format 2"));
  EXPECT_THAT(message([](auto& j) { j.erase("operators_ns"); }), HasSubstr("operators_ns"));
  EXPECT_THAT(message([](auto& j) { j["operators_ns"] = nlohmann::json::array(); }),
              HasSubstr("operators"));
  EXPECT_THAT(message([](auto& j) { j["operators_ns"][0] = -1; }), HasSubstr("negative"));
  EXPECT_THAT(message([](auto& j) { j["overhead_ns"] = 1e18; }), HasSubstr("hour"));
  EXPECT_THAT(message([](auto& j) { j["batch"] = 0; }), HasSubstr("batch"));
  EXPECT_THAT(message([](auto& j) { j["shards"][0]["end"] = 3; }),
              HasSubstr("operators 0 to 3 of 2"));
  EXPECT_THAT(message([](auto& j) { std::swap(j["shards"][0], j["shards"][1]); }),
              HasSubstr("order"));
  EXPECT_THAT(message([](auto& j) { j["shards"].clear(); }), HasSubstr("begins or ends"));
  EXPECT_THAT(message([](auto& j) { j.erase("too_large"); }), HasSubstr("too_large"));
  EXPECT_THAT(message([](auto& j) { j["too_large"][0] = {0, 1}; }), HasSubstr("was measured"));
  EXPECT_THAT(message([](auto& j) {
                j["too_large"][0] = {0, 3};
              }),
              HasSubstr("too large: of operators 0 to 3 of 2"));
  EXPECT_THAT(message([](auto& j) { j["too_large"].push_back({0, 2}); }), HasSubstr("order"));
  EXPECT_THAT(message([](auto& j) { j["too_large"][0] = 3; }), HasSubstr("profile: "));
  EXPECT_THAT(message([](auto& j) { j["jitter"][1] = 0; }), HasSubstr("jitter"));
  EXPECT_THAT(message([](auto& j) { j["jitter"][1] = 1e10; }), HasSubstr("jitter"));
  EXPECT_THAT(message([](auto& j) { j["jitter"] = std::vector<double>(65, 1); }),
              HasSubstr("jitter"));
  EXPECT_EQ(message([](auto& j) { j["jitter"] = std::vector<double>(64, 1); }), "");
  EXPECT_THAT(message([](auto& j) { j["cores"] = -4; }), HasSubstr("cores"));
  EXPECT_THAT(message([](auto& j) { j["max_error"] = -0.1; }), HasSubstr("max_error"));
  EXPECT_FALSE(device_profile_from_json("{"));
}

}  // namespace
}  // namespace pareto::plan
