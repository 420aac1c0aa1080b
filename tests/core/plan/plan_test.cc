#include "core/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "core/plan/schedule_json.h"

namespace pareto::plan {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

Plan sample_plan() {
  Plan plan;
  plan.model = "mobilenetv2";
  plan.splits = {"after:features.7"};
  plan.stages = {{"pi-1", 0, 41}, {"pi-2", 41, 153}};
  return plan;
}

TEST(Plan, ReadsBackFromJson) {
  const Plan plan = sample_plan();
  EXPECT_EQ(plan_from_json(to_json(plan)).value(), plan);
}

TEST(Plan, IsWrittenAsSpecified) {
  EXPECT_EQ(
      to_json(sample_plan()),
      R"({"model":"mobilenetv2","splits":["after:features.7"],)"
      R"("stages":[{"device":"pi-1","begin":0,"end":41},{"device":"pi-2","begin":41,"end":153}],)"
      R"("transport":"tcp","codecs":[],"batch":1,"micro_batch":0,"window":0,)"
      R"("engine":"auto","precision":"fp32","threads":0})");
  Plan mixed = sample_plan();
  mixed.set_transports({"shm", "tcp", "grpc"});
  EXPECT_EQ(
      to_json(mixed),
      R"({"model":"mobilenetv2","splits":["after:features.7"],)"
      R"("stages":[{"device":"pi-1","begin":0,"end":41},{"device":"pi-2","begin":41,"end":153}],)"
      R"("transports":["shm","tcp","grpc"],"codecs":[],"batch":1,"micro_batch":0,"window":0,)"
      R"("engine":"auto","precision":"fp32","threads":0})");
}

TEST(Plan, EachLinkHasATransport) {
  Plan plan = sample_plan();
  EXPECT_EQ(plan.links(), 3U);
  EXPECT_EQ(plan.transport_of(2), "tcp");
  EXPECT_EQ(plan.transport_text(), "tcp");
  plan.set_transports({"shm", "tcp", "grpc"});
  EXPECT_EQ(plan.transport_of(0), "shm");
  EXPECT_EQ(plan.transport_of(2), "grpc");
  EXPECT_EQ(plan.transport_text(), "shm+tcp+grpc");
  EXPECT_EQ(plan_from_json(to_json(plan)).value(), plan);
  // What is alike is one, however it was written.
  plan.set_transports({"grpc", "grpc", "grpc"});
  EXPECT_EQ(plan.transport_text(), "grpc");
  EXPECT_TRUE(plan.transports.empty());
  auto json = nlohmann::json::parse(to_json(plan));
  json.erase("transport");
  json["transports"] = {"grpc", "grpc", "grpc"};
  EXPECT_EQ(plan_from_json(json.dump()).value(), plan);
}

TEST(Plan, AStageMayHaveSettingsOfItsOwn) {
  Plan plan = sample_plan();
  plan.settings = {"plain", "fp32", 1, 0.2};
  plan.stages[1].settings = {"plain", "bf16", 2, 0};
  EXPECT_THAT(
      to_json(plan),
      HasSubstr(R"({"device":"pi-2","begin":41,"end":153,)"
                R"("settings":{"precision":"bf16","threads":2,"max_error":0.0}}],"transport")"));
  EXPECT_EQ(plan_from_json(to_json(plan)).value(), plan);
  EXPECT_TRUE(plan.has_own_settings());
  EXPECT_EQ(plan.settings_of(0), plan.settings);
  EXPECT_EQ(plan.settings_of(1), (StageSettings{"plain", "bf16", 2, 0}));
  EXPECT_EQ(plan.engine_text(), "plain");
  EXPECT_EQ(plan.precision_text(), "fp32+bf16");
  EXPECT_EQ(plan.threads_text(), "1+2");
}

TEST(Plan, SettingsThatAStageDoesNotNameAreThePlans) {
  auto json = nlohmann::json::parse(to_json(sample_plan()));
  json["engine"] = "onednn";
  json["threads"] = 3;
  const Plan plain = plan_from_json(json.dump()).value();
  EXPECT_EQ(plain.settings, (StageSettings{"onednn", "fp32", 3, 0}));
  EXPECT_FALSE(plain.has_own_settings());
  EXPECT_EQ(plain.settings_of(1), plain.settings);
  // Equal plans are equal however they were written.
  for (const auto& same : {nlohmann::json::object(), nlohmann::json({{"threads", 3}})}) {
    json["stages"][1]["settings"] = same;
    EXPECT_EQ(plan_from_json(json.dump()).value(), plain) << same;
  }
  json["stages"][1]["settings"] = {{"precision", "bf16"}};
  EXPECT_EQ(plan_from_json(json.dump()).value().settings_of(1),
            (StageSettings{"onednn", "bf16", 3, 0}));
}

TEST(Plan, SettingsThatNoDeviceTakesAreRefusedWithTheirPlace) {
  const auto refusal = [](const nlohmann::json& settings) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["stages"][1]["settings"] = settings;
    const auto read = plan_from_json(json.dump());
    if (read) return std::string("accepted");
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    return read.error().message;
  };
  EXPECT_EQ(refusal({{"threads", 256}, {"max_error", 1}}), "accepted");
  EXPECT_EQ(refusal(nlohmann::json::array()),
            "plan: stages[1].settings: an object is expected, not a list");
  EXPECT_EQ(refusal({{"precison", "bf16"}}),
            "plan: stages[1].settings: unknown key \"precison\" (did you mean precision?)");
  EXPECT_EQ(refusal({{"precision", 16}}), "plan: stages[1].settings.precision: 16 is not a name");
  EXPECT_EQ(refusal({{"engine", nullptr}}), "plan: stages[1].settings.engine: null is not a name");
  EXPECT_EQ(refusal({{"threads", 257}}),
            "plan: stages[1].settings.threads: 257 is not 0 to 256 (0: as the device is set)");
  EXPECT_THAT(refusal({{"threads", -1}}), HasSubstr("settings.threads: -1 is not 0 to 256"));
  EXPECT_THAT(refusal({{"threads", 1.5}}), HasSubstr("settings.threads: 1.5 is not a whole"));
  EXPECT_THAT(refusal({{"threads", std::uint64_t{1} << 33}}), HasSubstr("settings.threads: 85899"));
  EXPECT_THAT(refusal({{"max_error", "5%"}}),
              HasSubstr("stages[1].settings.max_error: \"5%\" is not a number"));
  EXPECT_THAT(refusal({{"max_error", 1.01}}), HasSubstr("settings.max_error: 1.01 is not 0"));
  EXPECT_THAT(refusal({{"engine", {{"name", "plain"}}}}), HasSubstr("something nested"));
}

TEST(Plan, AScheduleIsANameOrAProgramOfAUsers) {
  Plan plan = sample_plan();
  EXPECT_EQ(plan.schedule_text(), "sequential");
  EXPECT_THAT(to_json(plan), Not(HasSubstr("schedule"))) << "as earlier versions wrote it";
  plan.settings.schedule = "clusters";
  plan.stages[1].settings = plan.settings;
  plan.stages[1].settings->schedule = R"({"split":{"parts":2},"units":[]})";
  const std::string json = to_json(plan);
  EXPECT_THAT(json, HasSubstr(R"("schedule":"clusters")"));
  EXPECT_THAT(json, HasSubstr(R"("settings":{"schedule":{"split":{"parts":2},"units":[]}})"));
  EXPECT_EQ(plan_from_json(json).value(), plan);
  EXPECT_THAT(plan.schedule_text(), MatchesRegex(R"(clusters\+program [0-9a-f]{8})"));
}

TEST(Plan, EqualProgramsAreEqualHoweverTheyAreWritten) {
  auto json = nlohmann::ordered_json::parse(to_json(sample_plan()));
  json["schedule"] = nlohmann::ordered_json::parse(R"({"units": [], "split": {"parts": 2}})");
  const Plan plan = plan_from_json(json.dump()).value();
  EXPECT_EQ(plan.settings.schedule, R"({"split":{"parts":2},"units":[]})");
  EXPECT_EQ(canonical_schedule("{ \"units\": [], \"split\": {\"parts\": 2} }").value(),
            plan.settings.schedule);
  EXPECT_EQ(canonical_schedule("mixed").value(), "mixed");
}

TEST(Plan, AScheduleThatIsNoneIsRefusedWithItsPlace) {
  const auto refusal = [](const nlohmann::json& schedule) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["stages"][1]["settings"] = {{"schedule", schedule}};
    const auto read = plan_from_json(json.dump());
    if (read) return std::string("accepted");
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    return read.error().message;
  };
  EXPECT_EQ(refusal("clusters"), "accepted") << "names are known where they are used";
  const std::string place = "plan: stages[1].settings.schedule: ";
  for (const nlohmann::json& wrong : {nlohmann::json(7), nlohmann::json(""), nlohmann::json(),
                                      nlohmann::json::array({"clusters"})}) {
    EXPECT_EQ(refusal(wrong), place + "neither the name of a schedule nor a program (an object)");
  }
  EXPECT_THAT(refusal(std::string(kMostScheduleBytes + 1, 'x')),
              HasSubstr(place + "a schedule of 262145 bytes"));
  nlohmann::json deep = nlohmann::json::object();
  for (int i = 0; i < 40; ++i) deep = nlohmann::json({{"units", deep}});
  EXPECT_EQ(refusal(deep), place + "a program is nested deeper than 32");
  EXPECT_THAT(canonical_schedule("{").error().message, HasSubstr("this is no program"));
}

TEST(PlanFile, SaysHowItsModelWasOpened) {
  const ModelSource source{"/models/swin.pt",   "3x64x64",      10, "/models/best.pth", 7,
                           {"/data/photo.npy"}, {"/lib/nms.so"}};
  const auto read = plan_file_from_json(to_json(PlanFile{sample_plan(), source}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->plan, sample_plan());
  EXPECT_EQ(read->source, source);
  EXPECT_EQ(plan_file_from_json(to_json(sample_plan())).value().source, std::nullopt);
  const auto refusal = [](const char* key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(to_json(PlanFile{sample_plan(), ModelSource{.model = "a"}}));
    json["model_source"][key] = value;
    const auto refused = plan_file_from_json(json.dump());
    return refused ? std::string("accepted") : refused.error().message;
  };
  EXPECT_EQ(refusal("model", "b"), "accepted");
  EXPECT_THAT(refusal("wieghts", "b"), HasSubstr("did you mean weights"));
  EXPECT_THAT(refusal("model_seed", -1), HasSubstr("model_seed: -1"));
  EXPECT_THAT(refusal("weights", 3), HasSubstr("plan: "));
}

TEST(Plan, NamesOfAnyBytesAreWrittenAsText) {
  Plan plan = sample_plan();
  plan.model = "mod\xe8le.pt";
  const auto read = plan_from_json(to_json(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->model, "mod\xEF\xBF\xBDle.pt");
}

TEST(Plan, ForeignFilesAreChecked) {
  const auto refusal = [](auto change) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    change(json);
    const auto read = plan_from_json(json.dump());
    if (read) return std::string("accepted");
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    return read.error().message;
  };
  EXPECT_EQ(refusal([](auto&) {}), "accepted");
  EXPECT_EQ(refusal([](auto& j) { j = nlohmann::json::array(); }),
            "plan: an object is expected, not a list");
  EXPECT_THAT(refusal([](auto& j) { j["stages"][0] = 7; }),
              HasSubstr("stage 0: an object is expected, not number"));
  EXPECT_THAT(refusal([](auto& j) { j["window"] = 4294967297; }), HasSubstr("window: 4294967297"));
  EXPECT_THAT(refusal([](auto& j) { j["window"] = true; }), HasSubstr("window: true"));
  EXPECT_THAT(refusal([](auto& j) { j["batch"] = 1.9; }), HasSubstr("batch: 1.9"));
  EXPECT_THAT(refusal([](auto& j) { j["batch"] = 18446744073709551615U; }), HasSubstr("batch"));
  EXPECT_THAT(refusal([](auto& j) { j["batch"] = 65537; }), HasSubstr("not 1 to 65536"));
  EXPECT_THAT(refusal([](auto& j) { j["stages"][0]["end"] = 41.7; }), HasSubstr("end: 41.7"));
  EXPECT_THAT(refusal([](auto& j) {
                j["transports"] = {"tcp", "tcp", "tcp"};
              }),
              HasSubstr("\"transports\" of each"));
  const auto mixed = [&](const nlohmann::json& transports) {
    return refusal([&](auto& j) {
      j.erase("transport");
      j["transports"] = transports;
    });
  };
  EXPECT_THAT(mixed({"tcp", "shm"}), HasSubstr("2 transports for 3 links"));
  EXPECT_THAT(mixed({"tcp", "", "shm"}), HasSubstr("link 1 has no name"));
  EXPECT_THAT(mixed("tcp"), HasSubstr("plan: "));
  EXPECT_THAT(mixed({1, 2, 3}), HasSubstr("plan: "));
  EXPECT_THAT(mixed(std::vector<std::string>(100'000, "tcp")), HasSubstr("100000 transports"));
  EXPECT_THAT(refusal([](auto& j) { j["transport"] = ""; }), HasSubstr("no name"));
  EXPECT_THAT(refusal([](auto& j) { j["transprots"] = "tcp"; }),
              HasSubstr("\"transprots\" (did you mean transport"));
  EXPECT_THAT(refusal([](auto& j) { j["stages"][1]["begins"] = 3; }),
              HasSubstr("stage 1: unknown key \"begins\" (did you mean begin"));
  for (const char* text :
       {"3", "\"plan\"", "[1]", "null", R"({"model":"m","splits":[],"stages":3})",
        R"({"model":"m","splits":[],"stages":[3]})",
        R"({"model":"m","splits":[],"stages":"many"})"}) {
    EXPECT_EQ(plan_from_json(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Plan, SaysWhatIsWrong) {
  const auto refusal = [](auto change) {
    Plan plan = sample_plan();
    change(plan);
    const auto read = plan_from_json(to_json(plan));
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_THAT(refusal([](Plan& p) { p.stages[1].begin = 40; }), HasSubstr("should begin at 41"));
  EXPECT_THAT(refusal([](Plan& p) { p.stages[0].device = ""; }),
              HasSubstr("stage 0 names no device"));
  EXPECT_THAT(refusal([](Plan& p) { p.splits.clear(); }),
              HasSubstr("2 stages need 1 split points"));
  EXPECT_THAT(refusal([](Plan& p) { p.micro_batch = p.batch + 1; }), HasSubstr("micro_batch"));
  EXPECT_THAT(refusal([](Plan& p) { p.codecs = {"int8", "none"}; }), HasSubstr("2 codecs"));
  EXPECT_THAT(refusal([](Plan& p) { p.batch = 0; }), HasSubstr("batch 0"));
  EXPECT_THAT(refusal([](Plan& p) { p.settings.threads = 1000; }),
              HasSubstr("threads: 1000 is not 0 to 256"));
  EXPECT_FALSE(plan_from_json("{"));
  EXPECT_FALSE(plan_from_json("[]"));
}

/// Returns three stages, of which the first and the last run operators that do not lie side by
/// side.
Plan own_order() {
  Plan plan = sample_plan();
  plan.splits = {"op:41:50-60", "op:100"};
  plan.stages = {{"pi-1", 0, 51, {{0, 41}, {50, 60}}},
                 {"pi-2", 51, 100, {{41, 50}, {60, 100}}},
                 {"pi-3", 100, 153}};
  return plan;
}

TEST(Plan, MayRunOperatorsInAnOrderOfItsOwn) {
  const Plan plan = own_order();
  EXPECT_THAT(
      to_json(plan),
      HasSubstr(R"("stages":[{"device":"pi-1","begin":0,"end":51,"operators":[[0,41],[50,60]]},)"
                R"({"device":"pi-2","begin":51,"end":100,"operators":[[41,50],[60,100]]},)"
                R"({"device":"pi-3","begin":100,"end":153}])"));
  EXPECT_EQ(plan_from_json(to_json(plan)).value(), plan);
  EXPECT_EQ(plan.operators_of(1), (ShardOperators{{{0, 41}, {50, 60}}, {{41, 50}, {60, 100}}}));
  EXPECT_EQ(plan.operators_of(2), ShardOperators::between(100, 153));
  EXPECT_EQ(sample_plan().operators_of(0), ShardOperators::between(0, 41));
  // However ranges are written, equal plans are equal.
  Plan longer = own_order();
  longer.stages[0].operators = {{0, 20}, {20, 41}, {50, 60}};
  longer.stages[2].operators = {{100, 153}};
  EXPECT_EQ(plan_from_json(to_json(longer)).value(), plan);
}

TEST(Plan, OperatorsStandInOneStageEach) {
  const auto refusal = [](std::size_t stage, const nlohmann::json& operators) {
    auto json = nlohmann::json::parse(to_json(own_order()));
    json["stages"][stage]["operators"] = operators;
    const auto read = plan_from_json(json.dump());
    if (read) return std::string("accepted");
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    return read.error().message;
  };
  using Json = nlohmann::json;
  EXPECT_EQ(refusal(0, {{0, 41}, {50, 60}}), "accepted");
  EXPECT_THAT(refusal(0, {{0, 40}, {50, 60}}), HasSubstr("stage 0 names 50 operators"));
  EXPECT_THAT(refusal(0, {{0, 40}, {50, 61}}), HasSubstr("operator 40 stands in no stage"));
  EXPECT_THAT(refusal(0, {{0, 42}, {50, 59}}), HasSubstr("operator 41 stands in stage"));
  EXPECT_THAT(refusal(0, {{50, 60}, {0, 41}}), HasSubstr("[0, 41): ranges ascend"));
  EXPECT_THAT(refusal(0, {{0, 41}, {60, 50}}), HasSubstr("[60, 50)"));
  EXPECT_THAT(refusal(0, {{-10, 41}}), HasSubstr("[-10, 41)"));
  EXPECT_THAT(refusal(0, {{0, INT64_MAX}}), HasSubstr("ends at 1048576"));
  EXPECT_THAT(refusal(2, {{INT64_MAX - 53, INT64_MAX}}), HasSubstr("stage 2"));
  EXPECT_THAT(refusal(2, Json::array()), HasSubstr("stage 2: \"operators\" is a list of ranges"));
  for (const Json& odd : {Json(3), Json("all"), Json(nullptr), Json::object()}) {
    EXPECT_THAT(refusal(1, odd), HasSubstr("stage 1: \"operators\" is a list of ranges"));
  }
  for (const Json& odd : {Json::array({1}), Json::array({Json::array({1, 2, 3})})}) {
    EXPECT_THAT(refusal(1, odd), HasSubstr("is no range [begin, end]"));
  }
  EXPECT_THAT(refusal(1, {{"a", "b"}}), HasSubstr("plan: "));
  // One stage that says nothing has to be what is left.
  auto json = Json::parse(to_json(own_order()));
  json["stages"][1].erase("operators");
  EXPECT_THAT(plan_from_json(json.dump()).error().message, HasSubstr("operator 41 stands in no"));
}

Plan replicas() {
  Plan plan;
  plan.model = "tiny";
  plan.replicated = true;
  plan.stages = {{"pi-1", 0, 9}, {"pi-2", 0, 9}, {"pi-3", 0, 9}};
  plan.set_transports({"shm", "shm", "tcp", "tcp", "tcp", "grpc"});
  return plan;
}

TEST(Plan, OfReplicasHasALinkToEachAndOneBack) {
  const Plan plan = replicas();
  EXPECT_THAT(to_json(plan), HasSubstr(R"("replicas":true,"transports":["shm","shm","tcp")"));
  EXPECT_EQ(plan_from_json(to_json(plan)).value(), plan);
  EXPECT_EQ(plan.turn(), 3U);
  ASSERT_EQ(plan.links(), 6U);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(plan.operators_of(stage), ShardOperators::between(0, 9));
    EXPECT_EQ(plan.ends_of(plan.link_into(stage)), (LinkEnds{std::nullopt, stage}));
    EXPECT_EQ(plan.ends_of(plan.link_into(stage) + 1), (LinkEnds{stage, std::nullopt}));
  }
  const Plan pipeline = sample_plan();
  EXPECT_EQ(pipeline.turn(), 1U);
  EXPECT_EQ(pipeline.ends_of(0), (LinkEnds{std::nullopt, 0}));
  EXPECT_EQ(pipeline.ends_of(1), (LinkEnds{0, 1}));
  EXPECT_EQ(pipeline.ends_of(2), (LinkEnds{1, std::nullopt}));
  EXPECT_THAT(to_json(pipeline), testing::Not(HasSubstr("replicas")));
}

TEST(Plan, ReplicasAreAlikeAndApart) {
  const auto refusal = [](auto change) {
    Plan plan = replicas();
    change(plan);
    const auto read = plan_from_json(to_json(plan));
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_EQ(refusal([](Plan&) {}), "accepted");
  EXPECT_THAT(refusal([](Plan& p) { p.stages[1].end = 8; }),
              HasSubstr("the replica on pi-2 covers operators 0 to 8"));
  EXPECT_THAT(refusal([](Plan& p) { p.stages[1].begin = 1; }), HasSubstr("on pi-2"));
  EXPECT_THAT(refusal([](Plan& p) { p.stages[1].device = "pi-3"; }),
              HasSubstr("pi-3 has two replicas"));
  EXPECT_THAT(refusal([](Plan& p) { p.stages[1].device = ""; }), HasSubstr("names no device"));
  EXPECT_THAT(refusal([](Plan& p) { p.transports.pop_back(); }),
              HasSubstr("5 transports for 6 links: of each replica"));
  for (const auto& change :
       std::vector<std::function<void(Plan&)>>{[](Plan& p) { p.stages.resize(1); },
                                               [](Plan& p) {
                                                 p.splits = {"a", "b"};
                                               },
                                               [](Plan& p) {
                                                 p.codecs = {"none", "none"};
                                               },
                                               [](Plan& p) {
                                                 p.stages[0].operators = {{0, 9}};
                                               },
                                               [](Plan& p) {
                                                 p.batch = 4;
                                                 p.micro_batch = 2;
                                               }}) {
    EXPECT_THAT(refusal(change), HasSubstr("\"replicas\" are two stages at least"));
  }
}

}  // namespace
}  // namespace pareto::plan
