#include "partitioner/planning/simulation/simulate.h"

#include <algorithm>

#include "core/base/cpu_time.h"
#include "tests/bench/benches.h"

namespace pareto::bench {
namespace {

using simulation::ArrivalKind;
using simulation::Crossing;
using simulation::Duration;
using simulation::Outcome;
using simulation::PipelineClass;
using simulation::Scenario;
using simulation::Stage;

constexpr int kDevices = 10'000;
constexpr int kCameras = 9'000;
constexpr std::int64_t kSimulated = 10'000'000;
constexpr double kMostSeconds = 60;

Duration duration(Nanoseconds mean, double cv) {
  Duration time;
  time.mean = mean;
  time.cv = cv;
  return time;
}

/// Returns nine cameras to an edge server of four cores, ten to a wireless channel; each sends what
/// its first stage makes of a frame. Half of them take pictures at random, half as fast as their
/// window of three lets them.
Scenario fleet() {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  Scenario scenario;
  scenario.requests = kSimulated;
  scenario.devices.resize(2);
  scenario.devices[0].name = "camera";
  scenario.devices[0].count = kCameras;
  scenario.devices[1].name = "edge";
  scenario.devices[1].count = kDevices - kCameras;
  scenario.devices[1].cores = 4;
  scenario.media.resize(1);
  scenario.media[0].name = "wifi";
  scenario.media[0].count = kCameras / 10;
  scenario.media[0].condition.bits_per_second = 400'000'000;
  scenario.media[0].condition.delay = milliseconds(3);
  PipelineClass pipeline;
  pipeline.count = kCameras / 2;
  pipeline.window = 8;
  pipeline.stages.resize(2);
  Stage& first = pipeline.stages[0];
  first.device = 0;
  first.compute = duration(milliseconds(25), 0.1);
  Stage& second = pipeline.stages[1];
  second.device = 1;
  second.receive = duration(microseconds(100), 0);
  second.compute = duration(milliseconds(8), 0.2);
  second.link.media = {{0}};
  second.link.bytes = 120'000;
  pipeline.result.media = {{0}};
  pipeline.result.bytes = 4'000;
  pipeline.name = "at random";
  pipeline.arrivals.kind = ArrivalKind::kPoisson;
  pipeline.arrivals.rate_per_s = 20;
  scenario.pipelines.push_back(pipeline);
  pipeline.name = "closed";
  pipeline.arrivals = {};
  pipeline.window = 3;
  scenario.pipelines.push_back(pipeline);
  return scenario;
}

}  // namespace

Expected<std::vector<Row>> simulated_fleet(const std::string& name) {
  const Nanoseconds start = thread_cpu_time();
  PARETO_ASSIGN(const Outcome outcome, simulation::simulate(fleet()));
  const double seconds = to_milliseconds(thread_cpu_time() - start) / 1e3;
  return std::vector<Row>{
      {name, seconds / kMostSeconds, 1.0, false,
       fmt::format(
           "{:.1f} s / {} s of processor time: {} devices, {} requests, {} events, {:.0f} s "
           "of their time",
           seconds, kMostSeconds, kDevices, outcome.requests, outcome.events,
           to_milliseconds(outcome.simulated) / 1e3)}};
}

}  // namespace pareto::bench
