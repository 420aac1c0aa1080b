// Devices that answer, stop answering, and come back.
#include "client/watch/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::watch {
namespace {

using testing::HasSubstr;

constexpr std::chrono::milliseconds kPatience{1000};

class WatcherTest : public testing::Test {
 protected:
  /// Returns devices whose clocks show one more second with each connection.
  Watcher watcher(const std::vector<cluster::DeviceConfig>& configs) {
    return Watcher(
        configs,
        [this](const cluster::DeviceConfig& config,
               std::chrono::milliseconds) -> Expected<std::unique_ptr<cluster::DaemonClient>> {
          if (config.name == away_)
            return fail(ErrorCode::kUnavailable, "{}: no route", config.name);
          auto daemon = std::make_unique<test::FakeDaemon>(config.name, transport_);
          cluster::Observation observation;
          observation.clock = std::chrono::seconds(++connections_);
          daemon->set_observation(observation);
          if (config.name == "second") second_ = daemon.get();
          return daemon;
        });
  }

  test::MemoryTransport transport_;
  std::atomic<int> connections_{0};
  std::string away_;
  test::FakeDaemon* second_ = nullptr;
};

TEST_F(WatcherTest, AsksEveryDeviceOverOneConnection) {
  Watcher watched = watcher({{"first", "a:1"}, {"second", "b:2"}});
  for (int i = 0; i < 3; ++i) {
    const auto readings = watched.read(kPatience);
    ASSERT_EQ(readings.size(), 2U);
    EXPECT_EQ(readings[0].name, "first");
    EXPECT_EQ(readings[1].address, "b:2");
    for (const DeviceReading& reading : readings) {
      EXPECT_EQ(reading.problem, "");
      EXPECT_GT(reading.observation.clock.count(), 0);
    }
  }
  EXPECT_EQ(connections_, 2);
}

TEST_F(WatcherTest, ADeviceThatIsAwayIsARowAndAskedAgain) {
  Watcher watched = watcher({{"first", "a:1"}, {"second", "b:2"}});
  away_ = "second";
  auto readings = watched.read(kPatience);
  EXPECT_EQ(readings.at(0).problem, "");
  EXPECT_THAT(readings.at(1).problem, HasSubstr("no route"));
  EXPECT_EQ(readings.at(1).name, "second");
  away_ = "";
  EXPECT_EQ(watched.read(kPatience).at(1).problem, "");
  second_->die();
  readings = watched.read(kPatience);
  EXPECT_THAT(readings.at(1).problem, HasSubstr("nobody answers"));
  EXPECT_EQ(readings.at(0).problem, "");
  EXPECT_EQ(watched.read(kPatience).at(1).problem, "") << "connected anew";
  EXPECT_EQ(connections_, 3);
}

}  // namespace
}  // namespace pareto::watch
