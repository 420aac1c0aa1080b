// Made-up devices with stages that work at a steady pace.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/watch/activity.h"

namespace pareto::test {

/// The work of a stage in a second.
struct Pace {
  std::uint64_t requests = 10;
  Nanoseconds compute = std::chrono::milliseconds(10);  ///< time of a request
  Nanoseconds wait = std::chrono::milliseconds(1);      ///< time of a request
  double receiving = 0.02;                              ///< share of time
  double sending = 0.02;
  std::uint64_t in_flight = 1;
  std::vector<double> workers{};  ///< share of time of each
};

inline DurationCounts durations_of(std::uint64_t count, Nanoseconds each) {
  DurationHistogram histogram;
  for (std::uint64_t i = 0; i < count; ++i) histogram.record(each);
  return histogram.read();
}

/// Returns the activity of a stage after `seconds` seconds at that pace; each request of 1000
/// bytes, each result of 500.
inline control::StageActivity stage_after(std::uint32_t index, int seconds, const Pace& pace,
                                          std::uint64_t pipeline = 0xabcdef0123456789) {
  const auto passed = static_cast<std::uint64_t>(seconds);
  control::StageActivity stage;
  stage.pipeline = pipeline;
  stage.stage = index;
  stage.state = control::StageState::kRunning;
  stage.shard = "shard-" + std::to_string(pipeline % 7) + "-" + std::to_string(index);
  stage.model = "resnet50";
  stage.begin = std::int64_t{index} * 10;
  stage.end = stage.begin + 10;
  stage.engine = "fast";
  stage.answered = passed * pace.requests;
  stage.in_flight = pace.in_flight;
  stage.bytes_received = stage.answered * 1000;
  stage.bytes_sent = stage.answered * 500;
  stage.wait = durations_of(stage.answered, pace.wait);
  stage.compute = durations_of(stage.answered, pace.compute);
  stage.receiving = from_nanoseconds(seconds * pace.receiving * 1e9);
  stage.sending = from_nanoseconds(seconds * pace.sending * 1e9);
  for (const double share : pace.workers) {
    stage.workers.push_back(from_nanoseconds(seconds * share * 1e9));
  }
  return stage;
}

/// Returns a reading. The coordinator's clock began long before the test did, and each device's
/// elsewhere.
inline watch::DeviceReading device_after(const std::string& name, int seconds,
                                         std::vector<control::StageActivity> stages) {
  watch::DeviceReading reading;
  reading.name = name;
  reading.address = name + ":7070";
  reading.cores = 4;
  reading.runs_on = "cpu";
  reading.observation.clock =
      std::chrono::hours(1000) * static_cast<int>(name.size()) + std::chrono::seconds(seconds);
  reading.observation.cpu = std::chrono::milliseconds(500 * seconds);
  reading.observation.resident_bytes = 200 << 20;
  reading.observation.machine.memory_bytes = std::uint64_t{4} << 30;
  reading.observation.machine.memory_available_bytes = std::uint64_t{3} << 30;
  reading.observation.stages = std::move(stages);
  return reading;
}

inline watch::DeviceReading silent_device(const std::string& name) {
  watch::DeviceReading reading;
  reading.name = name;
  reading.address = name + ":7070";
  reading.problem = name + ": nobody answers";
  return reading;
}

/// Returns two stages on two devices, over two seconds.
inline watch::Activity activity_of(const Pace& first, const Pace& second) {
  const auto at = [&](int seconds) {
    control::StageActivity before = stage_after(0, seconds, first);
    before.round_trip = std::chrono::milliseconds(20);
    before.link_bytes_per_second = 6'000'000;
    return std::vector<watch::DeviceReading>{
        device_after("pi-1", seconds, {before}),
        device_after("pi-22", seconds, {stage_after(1, seconds, second)})};
  };
  return watch::activity_between(at(3), at(5));
}

}  // namespace pareto::test
