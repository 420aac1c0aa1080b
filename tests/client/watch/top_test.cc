// What is shown of what devices do, to people and to programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "client/watch/top_json.h"
#include "client/watch/top_text.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/client/watch/readings.h"
#include "tests/support/json_schema.h"

namespace pareto::watch {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Returns two pipelines over two devices, of which the second is slowed down, and a third device
/// that is away.
Activity busy() {
  const auto at = [](int time) {
    control::StageActivity failed = test::stage_after(0, time, {.requests = 0, .in_flight = 0}, 1);
    failed.state = control::StageState::kFailed;
    failed.failure = "a link broke";
    control::StageActivity first = test::stage_after(0, time, {.compute = milliseconds(40)});
    first.round_trip = milliseconds(20);
    first.link_bytes_per_second = 6'000'000;
    DeviceReading second = test::device_after(
        "pi-2", time,
        {test::stage_after(1, time, {.compute = milliseconds(96), .wait = milliseconds(150)})});
    second.observation.machine.temperature_celsius = 81.4;
    second.observation.machine.throttled = {"throttling"};
    second.observation.machine.frequency_hertz = 6e8;
    second.observation.machine.frequency_max_hertz = 1.5e9;
    return std::vector<DeviceReading>{test::device_after("pi-1", time, {failed, first}), second,
                                      test::silent_device("pi-3")};
  };
  return activity_between(at(2), at(4));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the lines that hold a word, in order.
std::vector<std::string> lines_with(const std::string& text, const std::string& word) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    if (line.find(word) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(TopText, SaysWhoIsTheBottleneckAndMarksIt) {
  const std::string text = top_text(busy(), {.title = "paretoctl top, now"});
  EXPECT_THAT(text, StartsWith("paretoctl top, now\n"));
  EXPECT_THAT(text, HasSubstr("pipeline abcdef01 resnet50: 10.00 requests/s, 2 in flight; stage 1 "
                              "on pi-2 is the bottleneck: it computes 96 % of the time"));
  const auto marked = lines_with(text, "◀ bottleneck");
  ASSERT_EQ(marked.size(), 1U) << text;
  EXPECT_THAT(marked[0], StartsWith("abcdef01      1  pi-2"));
  EXPECT_THAT(marked[0], HasSubstr("96 %"));
  EXPECT_THAT(marked[0], HasSubstr("  96.00  50-100  50-100    150.0   100-200 "));
}

TEST(TopText, ShowsDevicesAndWhatIsWrongWithThem) {
  const std::string text = top_text(busy(), {});
  EXPECT_THAT(lines_with(text, "pi-3:7070"), ElementsAre(HasSubstr("no answer")));
  EXPECT_THAT(text, HasSubstr("\npi-3: nobody answers\n"));
  EXPECT_THAT(top_text(busy(), {.report = {false, 19}}), HasSubstr("\npi-3: nobody\n  answers\n"));
  const auto slowed = lines_with(text, "pi-2:7070");
  ASSERT_EQ(slowed.size(), 1U);
  EXPECT_THAT(slowed[0], HasSubstr("81 °C"));
  EXPECT_THAT(slowed[0], HasSubstr("0.60 of 1.50 GHz"));
  EXPECT_THAT(slowed[0], HasSubstr("throttling"));
  EXPECT_THAT(slowed[0], HasSubstr("12 %")) << "half a core of four";
  EXPECT_THAT(text, HasSubstr("failed: a link broke"));
  EXPECT_THAT(lines_with(text, "stage 0 on pi-1  stage 1 on pi-2"),
              ElementsAre(testing::AllOf(HasSubstr("20.00"), HasSubstr("5.72 MiB"))));
}

TEST(TopText, SaysThatAnImitatedDeviceIsBusierThanItsProcessor) {
  EXPECT_THAT(top_text(busy(), {}), Not(HasSubstr("imitated")));
  const auto at = [](int time) {
    DeviceReading device = test::device_after(
        "pi-1", time, {test::stage_after(0, time, {.compute = milliseconds(98)})});
    device.imitated = true;
    return std::vector{device, test::device_after("server", time, {})};
  };
  const Activity activity = activity_between(at(2), at(4));
  EXPECT_THAT(top_text(activity, {}),
              HasSubstr("\nimitated: pi-1. cpu is what the imitation takes of this machine; "
                        "computing, of a stage, counts its pauses too\n"));
  const json line = json::parse(top_json(activity, "2026-01-31T10:15:02Z"));
  EXPECT_EQ(line["devices"][0]["imitated"], true);
  EXPECT_EQ(line["devices"][1]["imitated"], false);
}

TEST(TopText, NamesThoseWhoUseADevice) {
  const auto at = [](int time) {
    DeviceReading device = test::device_after("pi-1", time, {});
    device.observation.holders = {
        {.who = "coordinator lab", .command = "sweep", .since = std::chrono::minutes(3)}};
    return std::vector{device, test::device_after("server", time, {})};
  };
  const Activity activity = activity_between(at(2), at(4));
  EXPECT_THAT(top_text(activity, {}),
              HasSubstr("\npi-1: used by sweep of coordinator lab (since 3 min)\n"));
  const json line = json::parse(top_json(activity, "2026-01-31T10:15:02Z"));
  EXPECT_EQ(line["devices"][0]["used_by"], json::array({"sweep of coordinator lab (since 3 min)"}));
  EXPECT_EQ(line["devices"][1]["used_by"], json::array());
}

TEST(TopText, ShowsTheShareOfTurnsAndWhatWasTooLate) {
  const auto at = [](int time) {
    control::StageActivity stage = test::stage_after(0, time, {});
    stage.failed_requests = 5 * static_cast<std::uint64_t>(time);
    stage.dropped = 3 * static_cast<std::uint64_t>(time);
    DeviceReading device = test::device_after("pi-1", time, {stage});
    device.observation.turns = milliseconds(600 * time);
    device.observation.turn_cores = 2;
    return std::vector{device};
  };
  const Activity activity = activity_between(at(2), at(4));
  const std::string text = top_text(activity, {});
  EXPECT_THAT(text, HasSubstr("2.000 failed/s, 3.000 too late/s"));
  EXPECT_THAT(text, HasSubstr("30 %"));
  const json line = json::parse(top_json(activity, "2026-01-31T10:15:02Z"));
  EXPECT_DOUBLE_EQ(line["devices"][0]["turns"].get<double>(), 0.3);
  EXPECT_DOUBLE_EQ(line["pipelines"][0]["stages"][0]["rates"]["dropped_per_s"].get<double>(), 3);
}

TEST(TopText, ShowsWhatEachWorkerComputes) {
  EXPECT_THAT(top_text(busy(), {}), Not(HasSubstr("workers"))) << "no stage has a schedule";
  EXPECT_THAT(top_json(busy(), "now"), Not(HasSubstr("workers")));
  const auto text = [](const std::vector<double>& workers) {
    return top_text(test::activity_of({.workers = workers}, {}), {});
  };
  const std::string both = text({0.92, 0.876});
  EXPECT_THAT(lines_with(both, "workers"), ElementsAre(HasSubstr("computing  workers  in flight")));
  EXPECT_THAT(lines_with(both, "92 88 %"), ElementsAre(StartsWith("abcdef01      0  pi-1")));
  EXPECT_THAT(text({0.92}), Not(HasSubstr("workers"))) << "it computes when its stage does";
  std::vector<double> many(9, 0.5);
  many[3] = 0.125;
  EXPECT_THAT(text(many), HasSubstr(" 9 of 12-50 %"));
  const json line =
      json::parse(top_json(test::activity_of({.workers = {0.5, 0.25}}, {.workers = {1}}), "now"));
  const json& stages = line["pipelines"][0]["stages"];
  EXPECT_EQ(stages[0]["rates"]["workers"], json({0.5, 0.25}));
  EXPECT_EQ(stages[1]["rates"]["workers"], json({1.0}));
}

TEST(TopText, SaysWhenLinksWereMeasured) {
  const std::string text = top_text(busy(), {});
  EXPECT_THAT(lines_with(text, "link from"), ElementsAre(testing::EndsWith("bytes/s then")));
  EXPECT_THAT(text, HasSubstr("\nthen: round trip, and what the link carried, as its pipeline was "
                              "deployed. What else used the link then took its part\n"));
  const auto first = std::vector{test::device_after("pi-1", 3, {test::stage_after(0, 3, {})})};
  EXPECT_THAT(top_text(activity_between({}, first), {}), Not(HasSubstr("\nthen: ")))
      << "where nothing was measured";
}

TEST(TopText, WithoutRatesThereAreDashes) {
  const auto now = std::vector{test::device_after("pi-1", 3, {test::stage_after(0, 3, {})})};
  const std::string text = top_text(activity_between({}, now), {});
  EXPECT_THAT(text, HasSubstr("not measured yet"));
  EXPECT_THAT(text, Not(testing::ContainsRegex(": -[0-9]+ in flight"))) << "not a negative number";
  EXPECT_THAT(lines_with(text, "abcdef01      0"), ElementsAre(HasSubstr("  -  ")));
  EXPECT_THAT(top_text(activity_between({}, {test::silent_device("pi-1")}), {}),
              HasSubstr("no pipeline runs on these devices"));
}

TEST(TopText, SortsByWhatIsAskedFor) {
  const auto order = [](TopOrder by) {
    std::vector<std::string> stages;
    for (const std::string& line : lines_of(top_text(busy(), {.order = by}))) {
      if (line.find('[') == std::string::npos) continue;
      stages.push_back(line.substr(0, line.find("  pi-")));
    }
    return stages;
  };
  EXPECT_THAT(order(TopOrder::kPipeline),
              ElementsAre("00000000      0", "abcdef01      0", "abcdef01      1"));
  EXPECT_THAT(order(TopOrder::kComputing),
              ElementsAre("abcdef01      1", "abcdef01      0", "00000000      0"));
  EXPECT_THAT(order(TopOrder::kWait),
              ElementsAre("abcdef01      1", "abcdef01      0", "00000000      0"));
  EXPECT_THAT(order(TopOrder::kRate),
              ElementsAre("abcdef01      0", "abcdef01      1", "00000000      0"));
  EXPECT_THAT(order(TopOrder::kDevice),
              ElementsAre("00000000      0", "abcdef01      0", "abcdef01      1"));
}

TEST(TopText, FitsItsTerminal) {
  for (const int columns : {80, 120, 200}) {
    const std::string text = top_text(busy(), {.report = {false, columns}, .keys = "q quit"});
    EXPECT_THAT(text, HasSubstr("◀ bottleneck"));
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
  // Sentences are wrapped, not cut.
  EXPECT_THAT(top_text(busy(), {.report = {false, 80}}),
              HasSubstr(" stage 1 on pi-2 is\n  the bottleneck: it computes 96 % of the time"));
  for (const int rows : {3, 5, 10, 24}) {
    const std::string text = top_text(busy(), {.rows = rows, .keys = "q quit"});
    EXPECT_LE(std::ranges::count(text, '\n'), rows);
    EXPECT_TRUE(text.ends_with("q quit\n"));
  }
}

TEST(TopText, HasNoMoreLinesThanTheTerminalHasRows) {
  const auto text = [](int rows, int columns) {
    return top_text(busy(),
                    {.report = {false, columns}, .rows = rows, .title = "now", .keys = "q: quit"});
  };
  EXPECT_EQ(text(1, 80), "now\n");
  EXPECT_EQ(text(2, 80), "now\nq: quit\n");
  // The keys take two rows: nothing but them would be left.
  EXPECT_EQ(text(1, 5), "now\n");
  EXPECT_EQ(lines_of(text(2, 5)).size(), 2U);
  EXPECT_TRUE(text(2, 5).starts_with("now\n"));
  EXPECT_TRUE(text(3, 5).ends_with("q:\n  quit\n"));
}

TEST(TopText, BeforeAnybodyAnsweredNothingIsClaimed) {
  EXPECT_EQ(top_text({}, {.title = "now", .keys = "q quit"}),
            "now\nthe devices are being asked\nq quit\n");
}

TEST(TopText, HasColoursWhereTheyAreWanted) {
  EXPECT_THAT(top_text(busy(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(top_text(busy(), {.report = {true, 0}}), HasSubstr("\x1b[1;32m"));
}

TEST(TopJson, KeepsItsSchema) {
  const json schema = json::parse(
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "tests/golden/top.schema.json").value());
  const auto now = std::vector{test::device_after("pi-1", 3, {test::stage_after(0, 3, {})})};
  for (const Activity& activity :
       {busy(), activity_between({}, now), activity_between({}, {test::silent_device("pi-1")}),
        test::activity_of({.workers = {0.9, 0.8}}, {.sending = 0.95})}) {
    const std::string line = top_json(activity, "2026-01-31T10:15:02Z");
    EXPECT_THAT(line, Not(HasSubstr("\n")));
    EXPECT_THAT(pareto::test::violations(schema, json::parse(line)), IsEmpty()) << line;
  }
}

TEST(TopJson, SaysTheSame) {
  const json line = json::parse(top_json(busy(), "2026-01-31T10:15:02Z"));
  EXPECT_EQ(line["devices"][1]["temperature_celsius"], 81.4);
  EXPECT_EQ(line["devices"][0]["temperature_celsius"], nullptr);
  EXPECT_EQ(line["devices"][2]["well"], false);
  EXPECT_EQ(line["pipelines"][0]["bottleneck"]["limit"], "failed");
  EXPECT_EQ(line["pipelines"][0]["bottleneck"]["words"], "stage 0 on pi-1 failed: a link broke");
  const json& pipeline = line["pipelines"][1];
  EXPECT_EQ(pipeline["pipeline"], "abcdef01");
  EXPECT_EQ(pipeline["requests_per_s"], 10);
  EXPECT_EQ(pipeline["bottleneck"]["limit"], "stage");
  EXPECT_EQ(pipeline["bottleneck"]["index"], 1);
  EXPECT_EQ(pipeline["stages"][1]["rates"]["computing"], 0.96);
  EXPECT_EQ(pipeline["stages"][1]["rates"]["compute_ms"],
            json({{"mean", 96.0}, {"p50", {50.0, 100.0}}, {"p95", {50.0, 100.0}}}));
  EXPECT_EQ(pipeline["links"][1]["round_trip_ms"], 20);
}

}  // namespace
}  // namespace pareto::watch
