#include "client/report/profile_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/json_schema.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Returns three operators of 1, 2 and 3 ms, cut behind the first one.
plan::DeviceProfile profile_of(const std::string& device, const control::ShardSettings& settings) {
  plan::DeviceProfile profile;
  profile.device = device;
  profile.model = "tiny";
  profile.model_digest = std::string(64, 'a');
  profile.precision = settings.precision;
  profile.threads = settings.threads;
  profile.batch = settings.batch;
  profile.measured = "2026-01-31T10:15:02Z";
  profile.operators = {milliseconds(1), milliseconds(2), milliseconds(3)};
  profile.shards = {{0, 1, milliseconds(1), milliseconds(1), 3 << 20, 64},
                    {0, 3, milliseconds(5), milliseconds(5), 7 << 20, 32}};
  return profile;
}

/// Returns 1 ms before the cut, 6 ms behind it, and room for all or not.
planning::DeviceCosts costs(bool has_room) {
  planning::DeviceCosts costs;
  costs.compute = {milliseconds(0), milliseconds(1), milliseconds(7)};
  costs.weight_bytes = {0, 1 << 20, 5 << 20};
  if (!has_room) costs.memory_limit_bytes = 2 << 20;
  return costs;
}

ProfiledSettings settings_of(const control::ShardSettings& settings) {
  ProfiledSettings run;
  run.settings = settings;
  for (const char* device : {"pi-1", "pi-2"}) {
    run.devices.push_back(profile_of(device, settings));
    run.inputs.devices.push_back(costs(run.devices.size() == 1));
  }
  run.inputs.boundary_bytes = {16 * settings.batch, 2048 * settings.batch, 32 * settings.batch};
  return run;
}

ProfileReport profile_report() {
  ProfileReport report;
  report.model = "tiny";
  report.transports = {"tcp"};
  report.positions = {0, 1, 3};
  report.cuts = {"after:relu"};
  report.settings = {settings_of({{"auto", "fp32", 1}}), settings_of({{"auto", "bf16", 2}, 8})};
  planning::ProbedTransport tcp{"tcp",
                                planning::ProbedLinks(3, std::vector<transport::ProbeResult>(3))};
  tcp.links[0][2].round_trip = milliseconds(2);
  tcp.links[0][2].points = {
      {4'000'000, milliseconds(9), milliseconds(8), milliseconds(1), milliseconds(1)}};
  report.links = {tcp};
  return report;
}

/// Returns costs of int8 by which pi-2 encodes twice as slowly as this machine.
planning::ProbedCodecs int8() {
  planning::ProbedCodecs probed;
  probed.codecs = {"int8"};
  probed.positions = {1};
  probed.plain_bytes = {2048};
  probed.crossing = {{{"int8", 512, milliseconds(3), milliseconds(5), 0.012}}};
  probed.standard = {{"int8", 25, Nanoseconds(10), Nanoseconds(10), 0}};
  probed.on_devices = {probed.standard, {{"int8", 25, Nanoseconds(20), Nanoseconds(10), 0}}};
  return probed;
}

std::vector<planning::ProfiledOperator> operators() {
  return {{"aten::relu", "features.1", 0, 2048},
          {"aten::linear", "head", 400, 32},
          {"aten::add", "", 0, 32}};
}

json parsed(const ProfileReport& report) {
  json document = json::parse(write_profile_json(report));
  EXPECT_THAT(test::violations(test::golden_schema("profile"), document), IsEmpty());
  return document;
}

TEST(ProfileTable, SaysWhichSettingsEachPartIsOf) {
  const std::string text = write_profile_table(profile_report(), {});
  const auto first = text.find("tiny, batch 1, 1 thread, fp32\n");
  const auto second = text.find("tiny, batch 8, 2 threads, bf16\n");
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  EXPECT_EQ(text.find("Links, tcp"), text.rfind("Links, tcp")) << "once for all";
  EXPECT_THAT(text, HasSubstr("pi-1 > coordinator"));
  EXPECT_THAT(text, ContainsRegex("2\\.000 +9\\.000 +8\\.000 +500\\.0"))
      << "MB/s one after another";
}

TEST(ProfileTable, ShowsBothSidesOfEachCutWithTheirMemory) {
  EXPECT_THAT(
      write_profile_table(profile_report(), {}),
      AllOf(HasSubstr("pi-1: ms before"), HasSubstr("memory before"),
            ContainsRegex("after:relu +2\\.00 KiB +1\\.000 +6\\.000 +1\\.00 MiB +4\\.00 MiB "
                          "+1\\.000 +no room +1\\.00 MiB +4\\.00 MiB"),
            ContainsRegex("the whole model +32 B +7\\.000 +5\\.00 MiB +no room")));
}

TEST(ProfileTable, BothTablesCountMemoryAlikeAndSayWhatTheirColumnsAre) {
  const std::string text = write_profile_table(profile_report(), {});
  const std::string first_cut = "after:relu +2\\.00 KiB .*1\\.00 MiB";
  EXPECT_THAT(text, ContainsRegex("memory before.*\n" + first_cut));
  EXPECT_THAT(text, ContainsRegex("busy +plain +memory.*\n" + first_cut));
  EXPECT_THAT(text, AllOf(HasSubstr("\nms: what a lone request takes"),
                          HasSubstr("\nalone: a lone request, as above. busy: ")));
  const std::string narrow = write_profile_table(profile_report(), {.width = 70});
  std::istringstream note(narrow.substr(narrow.find("\nalone: ") + 1));
  for (std::string line; std::getline(note, line) && !line.empty();) EXPECT_LE(line.size(), 70U);
}

TEST(ProfileTable, SaysWhatOthersDidWhileItWasMeasured) {
  ProfileReport busy = profile_report();
  busy.settings[0].devices[0].others_share = 0.46;
  busy.settings[0].devices[1].others_share = 0.04;
  const std::string text = write_profile_table(busy, {});
  EXPECT_THAT(text, AllOf(HasSubstr("pi-1: as measured 2026-01-31T10:15:02Z, others used 46 % of "
                                    "its machine: figures vary (--fresh measures it again)\n"),
                          HasSubstr("pi-2: as measured 2026-01-31T10:15:02Z\n")));
  EXPECT_DOUBLE_EQ(parsed(busy)["devices"][0]["others_share"], 0.46);
  busy.settings[0].measured_now = true;
  EXPECT_THAT(write_profile_table(busy, {}),
              HasSubstr("pi-1: measured now, others used 46 % of its machine: figures vary\n"));
}

TEST(ProfileTable, ShowsTheSegmentsBetweenCuts) {
  EXPECT_THAT(write_profile_table(profile_report(), {}),
              AllOf(ContainsRegex("up to +output +pi-1: ms alone +busy +plain +memory"),
                    ContainsRegex("the end +32 B +6\\.000 +6\\.000 +5\\.000 +4\\.00 MiB +no room "
                                  "+5\\.000 +4\\.00 MiB")));
}

TEST(ProfileTable, ShowsOperatorsAndCodecsWhereTheyWereAskedFor) {
  ProfileReport more = profile_report();
  EXPECT_THAT(write_profile_table(more, {}),
              AllOf(Not(HasSubstr("Operators")), Not(HasSubstr("Codecs"))));
  more.settings[0].operators = operators();
  more.settings[0].codecs = int8();
  EXPECT_THAT(write_profile_table(more, {}),
              AllOf(ContainsRegex("1 +aten::linear +head +32 B +400 B +2\\.000 +2\\.000"),
                    ContainsRegex("after:relu +int8 +512 B +25\\.0 % +0\\.012 +3\\.000 +5\\.000 "
                                  "+6\\.000 +5\\.000")));
}

TEST(ProfileTable, SaysWhenItWasMeasured) {
  ProfileReport fresh = profile_report();
  EXPECT_THAT(write_profile_table(fresh, {}),
              AllOf(HasSubstr("as measured 2026-01-31T10:15:02Z"), Not(HasSubstr("measured now"))));
  fresh.settings[1].measured_now = true;
  EXPECT_THAT(write_profile_table(fresh, {}), HasSubstr("pi-2: measured now"));
}

TEST(ProfileJson, HasEachDeviceUnderEachSettings) {
  const json document = parsed(profile_report());
  const json& devices = document["devices"];
  ASSERT_EQ(devices.size(), 4U);
  EXPECT_EQ(devices[1]["device"], "pi-2");
  EXPECT_EQ(devices[1]["batch"], 1);
  EXPECT_EQ(devices[2]["device"], "pi-1");
  EXPECT_EQ(devices[2]["batch"], 8);
  EXPECT_EQ(devices[2]["threads"], 2);
  EXPECT_EQ(devices[2]["precision"], "bf16");
  EXPECT_EQ(devices[0]["shards"][0]["output_bytes"], 64);
  EXPECT_EQ(devices[0]["shards"][0]["memory_bytes"], 3 << 20);
  EXPECT_FALSE(devices[0].contains("operators"));
  EXPECT_TRUE(plan::device_profile_from_json(devices[0].dump())) << "what is kept, and more";
  ASSERT_EQ(document["links"].size(), 1U);
  EXPECT_EQ(document["links"][0]["to"], "coordinator");
}

TEST(ProfileJson, HasSegments) {
  const json document = parsed(profile_report());
  const json expected{{"begin", 1},
                      {"end", 3},
                      {"up_to", "the end"},
                      {"alone_ns", 6'000'000},
                      {"busy_ns", 6'000'000},
                      {"plain_ns", 5'000'000},
                      {"memory_bytes", 4 << 20},
                      {"output_bytes", 32}};
  ASSERT_EQ(document["devices"][0]["segments"].size(), 2U);
  EXPECT_EQ(document["devices"][0]["segments"][0]["up_to"], "after:relu");
  EXPECT_EQ(document["devices"][0]["segments"][1], expected);
  EXPECT_FALSE(document["devices"][1]["segments"][1].contains("alone_ns")) << "no room";
}

TEST(ProfileJson, HasOperatorsAndCodecsWhereTheyWereAskedFor) {
  ProfileReport more = profile_report();
  more.settings[1].operators = operators();
  more.settings[1].codecs = int8();
  const json document = parsed(more);
  EXPECT_FALSE(document["devices"][0].contains("operators"));
  const json linear{{"kind", "aten::linear"},
                    {"scope", "head"},
                    {"plain_ns", 2'000'000},
                    {"weight_bytes", 400},
                    {"output_bytes", 32}};
  ASSERT_EQ(document["devices"][2]["operators"].size(), 3U);
  EXPECT_EQ(document["devices"][2]["operators"][1], linear);
  ASSERT_EQ(document["codecs"].size(), 1U);
  const json& codec = document["codecs"][0];
  EXPECT_EQ(codec["cut"], "after:relu");
  EXPECT_EQ(codec["batch"], 8);
  EXPECT_EQ(codec["bytes"], 512);
  EXPECT_DOUBLE_EQ(codec["error"], 0.012);
  EXPECT_DOUBLE_EQ(codec["devices"][1]["encode_ms"], 6);
  EXPECT_DOUBLE_EQ(codec["devices"][1]["decode_ms"], 5);
}

}  // namespace
}  // namespace pareto::report
