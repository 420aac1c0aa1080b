#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/sweep/sweep.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

nlohmann::json default_json() { return nlohmann::json::parse(to_json(SweepOptions{})); }

std::string refusal_of(const nlohmann::json& json) {
  const auto options = sweep_options_from_json(json.dump());
  if (options) return "accepted";
  EXPECT_EQ(options.error().code, ErrorCode::kCorrupt) << json;
  return options.error().message;
}

/// Returns another value of the same kind.
nlohmann::json another(const nlohmann::json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get<std::string>() + "x";
  if (value.is_number_float()) return value.get<double>() + 0.5;
  if (value.is_number()) return value.get<std::int64_t>() + 1;
  nlohmann::json list = value;
  list.push_back(another(value.front()));
  return list;
}

TEST(SweepOptionsJson, ComesBackAsItWas) {
  SweepOptions options;
  options.splits = "percent:5";
  options.stages = {2, 3};
  options.batches = {1, 8};
  options.transports = {"grpc"};
  options.rounds = 9;
  options.codec_error = 0.25;
  options.seed = ~std::uint64_t{0};
  options.conditions = {"/somewhere/wifi.yaml"};
  options.timeout_ms = 120'000;
  options.settings.schedule = R"({"split":{"parts":2}})";
  const SweepOptions back = sweep_options_from_json(to_json(options)).value();
  EXPECT_EQ(to_json(back), to_json(options));
  EXPECT_THAT(back.batches, ElementsAre(1, 8));
  EXPECT_EQ(back.codec_error, 0.25);
  EXPECT_EQ(back.timeout_ms, 120'000);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  EXPECT_EQ(back.settings.schedule, options.settings.schedule);
  // A run of one kind of settings says nothing of others, as runs of earlier versions.
  EXPECT_FALSE(nlohmann::json::parse(to_json(options)).contains("more_settings"));
  EXPECT_TRUE(back.more_settings.empty());
  SweepOptions several = options;
  several.more_settings = {{"plain", "fp32", 2, 0, "clusters"}, {"auto", "bf16", 1, 0.1}};
  const SweepOptions both = sweep_options_from_json(to_json(several)).value();
  EXPECT_EQ(both.settings, several.settings);
  EXPECT_EQ(both.more_settings, several.more_settings);
}

TEST(SweepOptionsJson, BringsBackEachFieldByItself) {
  const nlohmann::json usual = default_json();
  ASSERT_GE(usual.size(), 20U);
  for (const auto& [name, value] : usual.items()) {
    nlohmann::json changed = usual;
    changed[name] = another(value);
    const auto options = sweep_options_from_json(changed.dump());
    ASSERT_TRUE(options) << name << ": " << options.error().message;
    EXPECT_EQ(nlohmann::json::parse(to_json(*options)), changed) << name;
  }
}

TEST(SweepOptionsJson, OfAnEarlierVersionMeansWhatThatVersionDid) {
  auto old = nlohmann::json::parse(to_json(SweepOptions{}));
  // Earlier versions had one network.
  old.erase("conditions");
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().conditions, ElementsAre("none"));
  // Earlier versions took no longest time of a request.
  old.erase("timeout_ms");
  EXPECT_EQ(sweep_options_from_json(old.dump()).value().timeout_ms, load::kRequestTimeout.count());
  // Earlier versions had no schedules.
  old.erase("schedule");
  EXPECT_EQ(sweep_options_from_json(old.dump()).value().settings.schedule, "sequential");
  // Earlier versions had plans for two devices.
  old["stages"] = 2;
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().stages, ElementsAre(2));
}

TEST(SweepOptionsJson, NeedsTheFieldsThatEveryVersionWrote) {
  const nlohmann::json usual = default_json();
  std::set<std::string> needed;
  for (const auto& [name, value] : usual.items()) {
    nlohmann::json without = usual;
    without.erase(name);
    const std::string refusal = refusal_of(without);
    if (refusal == "accepted") {
      const auto options = sweep_options_from_json(without.dump());
      EXPECT_EQ(to_json(*options), to_json(SweepOptions{})) << name << " is the usual one";
      continue;
    }
    EXPECT_THAT(refusal, AllOf(HasSubstr("the options of a stored run"),
                               HasSubstr("\"" + name + "\" is missing")));
    needed.insert(name);
  }
  EXPECT_EQ(needed, (std::set<std::string>{"splits", "stages", "transports", "codecs", "batches",
                                           "window", "requests", "rounds", "seed", "engine",
                                           "precision", "threads"}));
}

TEST(SweepOptionsJson, RefusesFieldsOfAnotherKind) {
  for (const char* text :
       {"", "{}", "[]", "{\"splits\":3}", "nonsense", "null", "7", "{\"splits\":"}) {
    const auto options = sweep_options_from_json(text);
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().code, ErrorCode::kCorrupt) << text;
  }
  const nlohmann::json usual = default_json();
  for (const char* const name : {"requests", "rounds", "window"}) {
    for (const nlohmann::json& wrong :
         {nlohmann::json(1e300), nlohmann::json(std::int64_t{1} << 40), nlohmann::json(0.5)}) {
      nlohmann::json changed = usual;
      changed[name] = wrong;
      EXPECT_THAT(refusal_of(changed), HasSubstr(name)) << wrong;
    }
  }
  nlohmann::json many = usual;
  many["batches"] = {1, 1e300};
  EXPECT_THAT(refusal_of(many), HasSubstr("\"batches\" must be a whole number"));
  EXPECT_FALSE(sweep_options_from_json(std::string(100'000, '[') + std::string(100'000, ']')));
  for (const auto& [name, value] : usual.items()) {
    for (const nlohmann::json& wrong :
         {nlohmann::json::object(), nlohmann::json(nullptr), nlohmann::json{{{"deep", 1}}}}) {
      nlohmann::json changed = usual;
      changed[name] = wrong;
      EXPECT_NE(refusal_of(changed), "accepted") << name << ": " << wrong;
    }
  }
}

TEST(SweepOptionsJson, RefusesOtherSettingsThatAreNotWhole) {
  nlohmann::json json = default_json();
  nlohmann::json settings = {{"engine", "plain"},
                             {"precision", "fp32"},
                             {"threads", 2},
                             {"max_error", 0},
                             {"schedule", "clusters"}};
  json["more_settings"] = {settings};
  ASSERT_EQ(refusal_of(json), "accepted");
  for (const auto& [name, value] : settings.items()) {
    nlohmann::json without = json;
    without["more_settings"][0].erase(name);
    EXPECT_THAT(refusal_of(without), HasSubstr("\"" + name + "\" is missing"));
  }
  json["more_settings"] = 3;
  EXPECT_NE(refusal_of(json), "accepted");
  json["more_settings"] = {"plain"};
  EXPECT_NE(refusal_of(json), "accepted");
  json["more_settings"] = nlohmann::json::array();
  EXPECT_EQ(refusal_of(json), "accepted");
}

TEST(SweepOptionsJson, NamesTheStoredPlanThatIsWrong) {
  SweepOptions options;
  for (const char* name : {"good", "bad"}) {
    cluster::NamedPlan& named = options.plans.emplace_back();
    named.name = name;
    named.plan.model = "tiny";
    named.plan.stages = {{"a", 0, 4}};
  }
  nlohmann::json json = nlohmann::json::parse(to_json(options));
  ASSERT_EQ(refusal_of(json), "accepted");
  EXPECT_EQ(sweep_options_from_json(json.dump())->plans[1].plan, options.plans[1].plan);
  json["plans"][1]["plan"]["stages"][0]["begin"] = 1;
  const auto refused = sweep_options_from_json(json.dump());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the options of a stored run: plan bad"));
  json["plans"][1].erase("plan");
  EXPECT_THAT(refusal_of(json), HasSubstr("\"plan\" is missing"));
  json["plans"] = {"good"};
  EXPECT_NE(refusal_of(json), "accepted");
}

TEST(SweepOptionsTest, AllSettingsBeginWithTheFirstOnes) {
  SweepOptions options;
  options.settings.threads = 3;
  EXPECT_THAT(options.all_settings(), ElementsAre(options.settings));
  options.more_settings.resize(2);
  options.more_settings[0].threads = 1;
  options.more_settings[1].threads = 2;
  EXPECT_THAT(options.all_settings(),
              ElementsAre(options.settings, options.more_settings[0], options.more_settings[1]));
}

}  // namespace
}  // namespace pareto::sweep
