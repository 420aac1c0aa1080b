#include "partitioner/planning/simulation/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "partitioner/planning/simulation/simulate.h"
#include "partitioner/planning/simulation/wire.h"
#include "tests/partitioner/planning/simulation/scenarios.h"

namespace pareto::simulation {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// One trial, of two stages.
class OneTrial final : public MeasuredPipelines {
 public:
  Expected<PipelineClass> find(const std::string& run, const std::string& trial) override {
    if (run != "last") return fail(ErrorCode::kNotFound, "no such run");
    if (trial != "after:features.7/tcp/b1") return fail(ErrorCode::kNotFound, "no such trial");
    PipelineClass pipeline = chain({Duration{}, Duration{}}, 0).pipelines[0];
    auto recording = std::make_shared<Recording>();
    recording->columns = 2;
    recording->nanoseconds = {2'000'000, 3'000'000};
    pipeline.recording = recording;
    pipeline.stages[0].compute.column = 0;
    pipeline.stages[1].compute.column = 1;
    pipeline.stages[1].link = crossing(milliseconds(7), milliseconds(7));
    pipeline.stages[1].link.bytes = 12'500;
    pipeline.batch = 8;
    return pipeline;
  }
};

Expected<Scenario> parse(const std::string& text) {
  OneTrial measured;
  return parse_scenario(text, "s.yaml", std::nullopt, measured);
}

constexpr const char* kHead =
    "duration: 10s\ndevices: [{name: a, count: 3}, {name: b, cores: 2, speed: 2}]\n";

TEST(ScenarioFile, EveryKey) {
  const auto scenario = parse(R"(
seed: 9
duration: 60s
requests: 500
warm_up: 3s
devices:
  - {name: a, count: 3}
  - {name: b, cores: 2, speed: 0.5}
  - {name: c, share: 20%, share_period: 5ms}
media:
  - {name: air, count: 2, stagger: true, condition: {rate: 8mbit, delay: 2ms, backward: {rate: 1mbit}}}
pipelines:
  - name: p
    count: 6
    window: 5
    batch: 4
    source: 1ms
    sink: 2ms
    arrivals: {poisson: 90/min}
    stages:
      - {device: a, receive: 1us, compute: 12ms, busy: 11ms, send: 2us, cv: 150%, distribution: normal, queue: 7,
         link: {bytes: 1000, buffer: 64KiB, condition: {rate: 16mbit, backward: {rate: 4mbit}}}}
      - {device: b, compute: 5ms, link: {medium: air, bytes: 10KiB, occupancy: 3us, delay: 4us, early: 5us}}
    result: {bytes: 1, condition: {rate: 16mbit, backward: {rate: 4mbit}}}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->seed, 9U);
  EXPECT_EQ(scenario->requests, 500);
  EXPECT_EQ(scenario->warm_up, std::chrono::seconds(3));
  EXPECT_EQ(scenario->devices[1].speed, 0.5);
  EXPECT_EQ(scenario->devices[1].quota, Nanoseconds(0));
  EXPECT_EQ(scenario->devices[2].quota, milliseconds(1));
  EXPECT_EQ(scenario->devices[2].period, milliseconds(5));
  EXPECT_EQ(scenario->media[0].condition.bits_per_second, 8'000'000U);
  EXPECT_TRUE(scenario->media[0].stagger);
  const PipelineClass& pipeline = scenario->pipelines[0];
  EXPECT_EQ(pipeline.count, 6);
  EXPECT_EQ(pipeline.window, 5);
  EXPECT_EQ(pipeline.batch, 4);
  EXPECT_EQ(pipeline.source.mean, milliseconds(1));
  EXPECT_EQ(pipeline.sink.mean, milliseconds(2));
  EXPECT_EQ(pipeline.arrivals.kind, ArrivalKind::kPoisson);
  EXPECT_DOUBLE_EQ(pipeline.arrivals.rate_per_s, 1.5);
  const Stage& first = pipeline.stages[0];
  EXPECT_EQ(first.receive.mean, microseconds(1));
  EXPECT_EQ(first.compute.mean, milliseconds(12));
  ASSERT_TRUE(first.busy);
  EXPECT_EQ(first.busy->mean, milliseconds(11));
  EXPECT_EQ(first.busy->cv, 1.5);
  EXPECT_EQ(first.send.mean, microseconds(2));
  EXPECT_EQ(first.compute.cv, 1.5);
  EXPECT_EQ(first.compute.shape, Shape::kNormal);
  EXPECT_EQ(first.queue, 7);
  EXPECT_EQ(first.link.bytes, 1000 + kFrameBytes + kPacketHeaderBytes);
  EXPECT_EQ(first.link.places, 47);
  EXPECT_EQ(first.link.condition.bits_per_second, 16'000'000U);
  EXPECT_EQ(pipeline.stages[1].device, 1);
  EXPECT_TRUE(first.link.occupancy.is_zero());
  const Crossing& second = pipeline.stages[1].link;
  ASSERT_EQ(second.media.size(), 1U);
  EXPECT_EQ(second.media[0].medium, 0);
  EXPECT_EQ(second.occupancy.mean, microseconds(3));
  EXPECT_EQ(second.delay.mean, microseconds(4));
  EXPECT_EQ(second.early, microseconds(5));
  EXPECT_EQ(pipeline.result.condition.bits_per_second, 4'000'000U);
}

TEST(ScenarioFile, Defaults) {
  const auto scenario = parse(std::string(kHead) +
                              "pipelines: [{name: p, window: 2, stages: [{device: a, compute: "
                              "1ms}]}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->seed, 1U);
  EXPECT_FALSE(scenario->warm_up);
  const Stage& stage = scenario->pipelines[0].stages[0];
  EXPECT_EQ(stage.queue, Stage{}.queue);
  EXPECT_TRUE(stage.link.media.empty());
  EXPECT_TRUE(stage.receive.is_zero());
  EXPECT_EQ(scenario->pipelines[0].arrivals.kind, ArrivalKind::kClosed);
}

TEST(ScenarioFile, TwoMedia) {
  const auto scenario =
      parse(std::string(kHead) +
            "media: [{name: air}, {name: wire}]\n"
            "pipelines: [{name: p, window: 2, stages: [{device: a, compute: 1ms, link: {bytes: "
            "9, media: [{name: wire, share: 20%}, {name: air}]}}]}]\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const Crossing& link = scenario->pipelines[0].stages[0].link;
  ASSERT_EQ(link.media.size(), 2U);
  EXPECT_EQ(link.media[0].medium, 1);
  EXPECT_DOUBLE_EQ(link.media[0].share, 0.2);
  EXPECT_EQ(link.media[1].medium, 0);
  EXPECT_EQ(link.media[1].share, 1);
}

TEST(ScenarioFile, AnExponentialTimeMayBeToldItsCv) {
  const auto scenario = parse(std::string(kHead) +
                              "pipelines: [{name: p, window: 2, stages: [{device: a, compute: "
                              "1ms, cv: 100%, distribution: exponential}]}]\n");
  EXPECT_TRUE(scenario) << scenario.error().message;
}

TEST(ScenarioFile, AMeasuredTrial) {
  const auto scenario = parse(std::string(kHead) + R"(
pipelines:
  - {name: as-measured, run: last, trial: "after:features.7/tcp/b1", window: 1,
     stages: [{device: a}, {device: b}]}
  - {name: elsewhere, run: last, trial: "after:features.7/tcp/b1", window: 1,
     stages: [{device: a}, {device: b, link: {condition: {rate: 1mbit, delay: 1ms}}}]}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->pipelines[0].batch, 8);
  const auto outcome = simulate(*scenario);
  ASSERT_TRUE(outcome);
  // 2 ms, 14 ms of link, 3 ms at twice the speed; then 12500 bytes at 1 Mbit/s instead.
  EXPECT_DOUBLE_EQ(outcome->pipelines[0].latency.most_ms, 2 + 14 + 1.5);
  EXPECT_DOUBLE_EQ(outcome->pipelines[1].latency.most_ms, 2 + 100 + 1 + 1.5);
}

TEST(ScenarioFile, TheSamplesAreWellAndRun) {
  const std::filesystem::path folder =
      std::filesystem::path(PARETO_SOURCE_DIR) / "configs/simulation";
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    OneTrial measured;
    auto scenario = read_scenario(entry.path(), measured);
    ASSERT_TRUE(scenario) << scenario.error().message;
    scenario->requests = 20'000;
    const auto outcome = simulate(*scenario);
    ASSERT_TRUE(outcome) << entry.path() << ": " << outcome.error().message;
    EXPECT_EQ(outcome->requests, 20'000) << entry.path();
    ++samples;
  }
  EXPECT_GE(samples, 3);
}

TEST(ScenarioFile, WhatIsWrongIsToldWithItsPlace) {
  const auto expect = [](const std::string& text, const testing::Matcher<std::string>& sentence) {
    const auto scenario = parse(text);
    ASSERT_FALSE(scenario) << text;
    EXPECT_EQ(scenario.error().code, ErrorCode::kInvalidArgument) << scenario.error().message;
    EXPECT_THAT(scenario.error().message, sentence) << text;
    EXPECT_THAT(scenario.error().message, HasSubstr("s.yaml"));
  };
  const std::string head = kHead;
  const auto stage = [&](const std::string& keys) {
    return head + "pipelines: [{name: p, window: 2, stages: [{" + keys + "}]}]\n";
  };
  expect("", HasSubstr("\"duration\": is needed, or requests"));
  expect("duration: 1s\n", HasSubstr("nothing to simulate"));
  expect("[1, 2]", HasSubstr("should be a mapping"));
  expect("a: [", HasSubstr("s.yaml:"));
  expect(head + "pipline: []\n",
         AllOf(HasSubstr("unknown key \"pipline\""), HasSubstr("pipelines")));
  expect(stage("device: c, compute: 1ms"), HasSubstr("there is no \"c\""));
  expect(stage("device: a"), HasSubstr("\"pipelines[0].stages[0].compute\": is needed"));
  expect(stage("device: a, compute: 0ms"), HasSubstr("is needed, above 0"));
  expect(stage("device: a, compute: 1ms, compte: 2"), HasSubstr("did you mean compute"));
  expect(stage("device: a, compute: 1ms, cv: 20"), HasSubstr("cv"));
  expect(stage("device: a, compute: 1ms, cv: 2000%"), HasSubstr("variation of 20 is not"));
  expect(stage("device: a, compute: 1ms, distribution: gauss"), HasSubstr("is one of lognormal"));
  expect(stage("device: a, compute: 1ms, cv: 10%, distribution: exponential"),
         HasSubstr("stages[0].cv\": is 100% of an exponential distribution"));
  expect(stage("device: a, compute: 2h"), HasSubstr("0 to 1 h"));
  expect(stage("device: a, compute: 1ms, queue: 0"), HasSubstr("queue: 0"));
  expect(stage("device: a, compute: 1ms, link: {medium: air}"), HasSubstr("there is no \"air\""));
  expect(stage("device: a, compute: 1ms, link: {network: x.yaml}"), HasSubstr("there are none"));
  expect(stage("device: a, compute: 1ms, link: {condition: {rat: 1mbit}}"), HasSubstr("rate"));
  expect(stage("device: a, compute: 1ms, link: {condition: {rate: 1kbit}}"), HasSubstr("8kbit"));
  expect(stage("device: a, compute: 1ms, link: {condition: {loss: 60%}}"), HasSubstr("loss"));
  expect(stage("device: a, compute: 1ms, link: {condition: {delay: 9ms, reorder: 1%}}"),
         HasSubstr("reorder is not simulated"));
  expect(stage("device: a, compute: 1ms, link: {condition: {burst_loss: {enter: 1%}}}"),
         HasSubstr("use loss"));
  expect(stage("device: a, compute: 1ms, link: {direction: up}"), HasSubstr("forward or backward"));
  expect("media: [{name: air}]\n" +
             stage("device: a, compute: 1ms, link: {medium: air, direction: backward}"),
         HasSubstr("link.direction\": belongs to a condition of its own"));
  const auto media = [&](const std::string& link) {
    return "media: [{name: air}, {name: sea}, {name: land}]\n" +
           stage("device: a, compute: 1ms, link: {" + link + "}");
  };
  expect(media("media: [{name: airr}]"), HasSubstr("there is no \"airr\""));
  expect(media("media: [{name: air}, {name: air}]"),
         HasSubstr("link.media[1].name\": \"air\" stands twice"));
  expect(media("media: [{name: air}, {name: sea}, {name: land}]"),
         HasSubstr("link.media\": 3 of them: a message passes one or two"));
  expect(media("media: []"), HasSubstr("link.media\": 0 of them"));
  expect(media("media: [{name: air, share: 0%}]"), HasSubstr("share\": has to be above 0"));
  expect(media("media: [{name: air}], condition: {rate: 1mbit}"),
         HasSubstr("link.condition\": belongs to a link of its own"));
  expect(media("media: [{name: air, share: 120%}]"), HasSubstr("share"));
  expect(media("medium: air, media: [{name: sea}]"), HasSubstr("stands next to medium"));
  const std::string one = "stages: [{device: a, compute: 1ms}]";
  expect(head + "pipelines: [{name: p, " + one + "}]\n", HasSubstr("\"pipelines[0].window\""));
  expect(head + "pipelines: [{name: p, window: 1, stages: []}]\n", HasSubstr("is needed: a list"));
  expect(head + "pipelines: [{name: p, window: 1, count: 0, " + one + "}]\n", HasSubstr("count"));
  expect(head + "pipelines: [{name: p, window: 1, count: 99999999, " + one + "}]\n",
         HasSubstr("count"));
  expect(head + "pipelines: [{name: p, arrivals: {poisson: 20}, " + one + "}]\n",
         HasSubstr("such as 20/s"));
  expect(head + "pipelines: [{name: p, arrivals: {poisson: 1/s, every: 1s}, " + one + "}]\n",
         HasSubstr("is one of poisson, every and trace"));
  expect(head + "pipelines: [{name: p, arrivals: {trace: t.txt}, " + one + "}]\n",
         HasSubstr("there are none here"));
  expect(head + "pipelines: [{name: p, window: 1, run: last, " + one + "}]\n",
         HasSubstr("belong together"));
  expect(
      head + "pipelines: [{name: p, window: 1, " + one + "}, {name: p, window: 1, " + one + "}]\n",
      HasSubstr("\"p\" stands twice"));
  expect(head + "warm_up: 6s\npipelines: [{name: p, window: 1, " + one + "}]\n",
         HasSubstr("half the duration"));
  expect("duration: 1s\ndevices: [{name: a, cores: 0}]\npipelines: [{name: p, window: 1, " + one +
             "}]\n",
         HasSubstr("cores"));
  expect(
      "duration: 1s\ndevices: [{name: a, cores: 2, share: 20%}]\npipelines: [{name: p, window: "
      "1, " +
          one + "}]\n",
      HasSubstr("a share is of one core"));
  expect("duration: 1s\ndevices: [{name: a, share: 0%}]\npipelines: []\n",
         HasSubstr("no time at all"));
  // All at once.
  expect(
      "duration: 1s\ndevices: [{name: a, cors: 2}]\npipelines: [{name: p, stages: [{device: "
      "b}]}]\n",
      AllOf(HasSubstr("cores"), HasSubstr("there is no \"b\""), HasSubstr("window")));
}

TEST(ScenarioFile, WhatAMeasuredPipelineCannotBeTold) {
  const auto measured = [](const std::string& keys, const std::string& stages) {
    const auto scenario = parse(std::string(kHead) + "pipelines: [{name: p, window: 1, " + keys +
                                ", stages: [" + stages + "]}]\n");
    return scenario ? std::string() : scenario.error().message;
  };
  const std::string trial = "run: last, trial: \"after:features.7/tcp/b1\"";
  EXPECT_EQ(measured(trial, "{device: a}, {device: a}"), "");
  EXPECT_THAT(measured(trial, "{device: a}"), HasSubstr("1 of them, and the trial has 2"));
  EXPECT_THAT(measured(trial, "{device: a, compute: 1ms}, {device: a}"),
              HasSubstr("unknown key \"pipelines[0].stages[0].compute\""));
  EXPECT_THAT(measured("run: last, trial: x", "{device: a}"),
              AllOf(HasSubstr("s.yaml:3"), HasSubstr("no such trial")));
}

TEST(ScenarioFile, ATraceOfArrivalsFromAFile) {
  const auto folder = TemporaryFolder::create("scenario").value();
  std::ofstream(folder.path() / "t.txt") << "# frames\n0.5\n\n0.6\n1.3\n";
  OneTrial measured;
  const auto scenario = parse_scenario(
      std::string(kHead) +
          "pipelines: [{name: p, arrivals: {trace: t.txt}, stages: [{device: a, compute: 1ms}]}]\n",
      "s.yaml", folder.path(), measured);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const std::vector<Nanoseconds> gaps{milliseconds(400), milliseconds(100), milliseconds(700)};
  EXPECT_EQ(scenario->pipelines[0].arrivals.gaps, gaps);
}

TEST(ScenarioFile, HostileTraces) {
  const auto message = [](const std::string& text) {
    const auto gaps = parse_arrival_trace(text, "t.txt");
    return gaps ? std::string() : gaps.error().message;
  };
  EXPECT_EQ(message("0\n1"), "");
  EXPECT_EQ(message("0\r\n1\r\n"), "");
  EXPECT_THAT(message(""), HasSubstr("t.txt: two requests"));
  EXPECT_THAT(message("1\n1\n"), HasSubstr("two requests at different times"));
  EXPECT_THAT(message("0\n2\n1\n"), HasSubstr("t.txt:3: comes before"));
  EXPECT_THAT(message("0\nx\n"), HasSubstr("t.txt:2: \"x\" is not a time"));
  EXPECT_THAT(message("-1\n1\n"), HasSubstr("t.txt:1"));
  EXPECT_THAT(message("0\nnan\n"), HasSubstr("t.txt:2"));
  EXPECT_THAT(message("0\ninf\n"), HasSubstr("t.txt:2"));
  EXPECT_THAT(message("0\n1e300\n"), HasSubstr("t.txt:2"));
  EXPECT_THAT(message("0 1\n"), HasSubstr("t.txt:1"));
}

TEST(ScenarioFile, Rates) {
  EXPECT_EQ(parse_request_rate("20/s").value(), 20);
  EXPECT_EQ(parse_request_rate(" 1.5 / min").value(), 1.5 / 60);
  EXPECT_EQ(parse_request_rate("3600/h").value(), 1);
  for (const char* text : {"", "20", "/s", "0/s", "-1/s", "20/d", "x/s", "nan/s", "20/s/s"}) {
    EXPECT_FALSE(parse_request_rate(text)) << text;
  }
}

}  // namespace
}  // namespace pareto::simulation
