#include "client/report/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr Nanoseconds us(int count) { return std::chrono::microseconds(count); }

/// The time that each device's clock shows when the load begins, and how far it is from ours.
constexpr Nanoseconds kBegan = std::chrono::hours(50);
constexpr Nanoseconds kAhead[] = {std::chrono::hours(3), std::chrono::hours(-2)};

/// Returns two devices, requests of 100 us every 40 us: 10 source, 10 wire, 20 + 5 + 15 first
/// stage, 10 wire, 20 second, 10 back.
load::PipelineTrace made_up(int requests) {
  load::PipelineTrace trace;
  trace.plan.model = "toy";
  trace.plan.splits = {"after:relu"};
  trace.plan.window = 3;
  trace.stages = {{"pi-1", 1000}, {"pi-2", 500}};
  trace.clocks = {{"pi-1", {kAhead[0], us(2)}}, {"pi-2", {kAhead[1], us(3)}}};
  trace.load.began = TimePoint(kBegan);
  for (int i = 0; i < requests; ++i) {
    const Nanoseconds sent = us(40 * i);
    load::RequestSample sample;
    sample.request = static_cast<std::uint64_t>(i);
    sample.sent = sent;
    sample.completed = sent + us(100);
    sample.source = {us(4), us(6), 1100, us(5)};
    wire::StageTimes first{.stage = 0, .arrived = kBegan + kAhead[0] + sent + us(20)};
    first.receive = us(3);
    first.decode = us(2);
    first.queue = us(15);
    first.compute = us(15);
    wire::StageTimes second{.stage = 1, .arrived = kBegan + kAhead[1] + sent + us(70)};
    second.receive = us(5);
    second.compute = us(10);
    second.compute_cpu = us(9);
    if (i > 0) {
      first.encode = second.encode = us(1);
      first.send = second.send = us(2 + i);
      first.send_cpu = us(1);
    }
    sample.timeline = {first, second};
    sample.sink = {sent + us(95), us(3), us(2), us(4), 600};
    trace.load.samples.push_back(std::move(sample));
  }
  return trace;
}

struct Drawn {
  json document;
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;

  explicit Drawn(const load::PipelineTrace& trace) : document(json::parse(chrome_trace(trace))) {
    for (const json& event : document.at("traceEvents")) {
      if (event.at("ph") != "M") continue;
      const int process = event.at("pid");
      if (event.at("name") == "process_name") processes[process] = event["args"]["name"];
      if (event.at("name") == "thread_name") {
        threads[{process, event.at("tid")}] = event["args"]["name"];
      }
    }
  }
  std::string where(const json& event) const {
    return processes.at(event.at("pid")) + "/" + threads.at({event["pid"], event["tid"]});
  }
  /// Returns "pi-1/stage 0 compute: compute" -> start and duration, of one request.
  std::map<std::string, std::pair<double, double>> request(int number) const {
    std::map<std::string, std::pair<double, double>> spans;
    for (const json& event : document.at("traceEvents")) {
      if (event.at("ph") != "X" || event.at("args").at("request") != number) continue;
      const bool is_new = spans
                              .emplace(where(event) + ": " + event.at("name").get<std::string>(),
                                       std::pair<double, double>(event.at("ts"), event.at("dur")))
                              .second;
      EXPECT_TRUE(is_new) << event;
    }
    return spans;
  }
};

using Span = std::pair<double, double>;

TEST(ChromeTrace, PutsEveryPartOfARequestOnTheCoordinatorsClock) {
  const Drawn drawn(made_up(3));
  const auto spans = drawn.request(1);
  const std::map<std::string, Span> expected{
      {"coordinator/request: request", {40, 100}},
      {"coordinator/source: encode", {40, 4}},
      {"coordinator/source: send", {44, 6}},
      {"links/source to stage 0: wire", {44, 19}},
      {"pi-1/stage 0 receive: receive", {60, 3}},
      {"pi-1/stage 0 receive: decode", {63, 2}},
      {"pi-1/stage 0 queue: queue", {65, 15}},
      {"pi-1/stage 0 compute: compute", {80, 15}},
      // What the next message carried.
      {"pi-1/stage 0 send: encode", {95, 1}},
      {"pi-1/stage 0 send: send", {96, 4}},
      {"links/stage 0 to stage 1: wire", {96, 19}},
      {"pi-2/stage 1 receive: receive", {110, 5}},
      {"pi-2/stage 1 receive: decode", {115, 0}},
      {"pi-2/stage 1 queue: queue", {115, 0}},
      {"pi-2/stage 1 compute: compute", {115, 10}},
      {"pi-2/stage 1 send: encode", {125, 1}},
      {"pi-2/stage 1 send: send", {126, 4}},
      {"links/stage 1 to sink: wire", {126, 12}},
      {"coordinator/sink: receive", {135, 3}},
      {"coordinator/sink: decode", {138, 2}},
  };
  EXPECT_EQ(spans, expected);
}

TEST(ChromeTrace, WhatTheLastRequestSentIsNotKnown) {
  const auto spans = Drawn(made_up(3)).request(2);
  EXPECT_EQ(spans.size(), 14U);
  for (const char* absent :
       {"pi-1/stage 0 send: encode", "pi-1/stage 0 send: send", "pi-2/stage 1 send: send",
        "links/stage 0 to stage 1: wire", "links/stage 1 to sink: wire"}) {
    EXPECT_FALSE(spans.contains(absent)) << absent;
  }
}

TEST(ChromeTrace, NothingOnOneRowOverlaps) {
  load::PipelineTrace trace = made_up(20);
  // Requests that come at once wait together.
  for (load::RequestSample& sample : trace.load.samples) sample.timeline[0].queue = us(200);
  const Drawn drawn(trace);
  std::map<std::pair<int, int>, std::vector<Span>> rows;
  for (const json& event : drawn.document.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    rows[{event.at("pid"), event.at("tid")}].emplace_back(event.at("ts"), event.at("dur"));
  }
  for (auto& [row, spans] : rows) {
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) {
      EXPECT_LE(spans[i - 1].first + spans[i - 1].second, spans[i].first + 1e-6)
          << drawn.threads.at(row);
    }
  }
}

TEST(ChromeTrace, StatesSoftwareClocksAndTheirErrors) {
  const json other = Drawn(made_up(2)).document.at("otherData");
  EXPECT_EQ(other.at("software"), "paretoctl " PARETO_VERSION);
  EXPECT_EQ(other.at("model"), "toy");
  EXPECT_EQ(other.at("splits"), json({"after:relu"}));
  EXPECT_EQ(other.at("window"), 3);
  EXPECT_EQ(other.at("requests"), 2);
  ASSERT_EQ(other.at("clocks").size(), 2U);
  const json& clock = other["clocks"][0];
  EXPECT_EQ(clock.at("device"), "pi-1");
  EXPECT_EQ(clock.at("offset_us"), 3 * 3600e6);
  EXPECT_EQ(clock.at("error_us"), 2);
}

TEST(ChromeTrace, ArgumentsSayBytesProcessorTimeAndError) {
  const Drawn drawn(made_up(2));
  std::set<std::string> seen;
  for (const json& event : drawn.document.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("args").at("request") != 0) continue;
    const std::string what = drawn.where(event) + ": " + event.at("name").get<std::string>();
    const json& args = event["args"];
    if (what == "coordinator/source: send") {
      EXPECT_EQ(args.at("frame_bytes"), 1100);
      EXPECT_EQ(args.at("cpu_us"), 5);
    } else if (what == "pi-2/stage 1 receive: receive") {
      EXPECT_EQ(args.at("tensor_bytes"), 500);
    } else if (what == "pi-2/stage 1 compute: compute") {
      EXPECT_EQ(args.at("cpu_us"), 9);
    } else if (what == "links/stage 0 to stage 1: wire") {
      EXPECT_EQ(args.at("clock_error_us"), 5);
      EXPECT_EQ(args.at("first_byte_us"), 14);
    } else {
      continue;
    }
    seen.insert(what);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(ChromeTrace, ArrowsFollowARequest) {
  const Drawn drawn(made_up(2));
  std::vector<std::string> passed;
  for (const json& event : drawn.document.at("traceEvents")) {
    if (!event.contains("id") || event["id"] != 1) continue;
    passed.push_back(event.at("ph").get<std::string>() + " " + drawn.where(event));
  }
  EXPECT_THAT(passed, ElementsAre("s coordinator/source", "t pi-1/stage 0 compute",
                                  "t pi-2/stage 1 compute", "f coordinator/sink"));
}

TEST(ChromeTrace, ADeviceWithTwoStagesIsOneProcess) {
  load::PipelineTrace trace = made_up(1);
  trace.stages[1].device = "pi-1";
  trace.clocks.erase("pi-2");
  const Drawn drawn(trace);
  std::vector<std::string> names;
  for (const auto& [process, name] : drawn.processes) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("coordinator", "pi-1", "links"));
}

}  // namespace
}  // namespace pareto::report
