// What others do while something is measured, told from what we and our daemons do.
#include "coordinator/load/foreign_load_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/fake_devices.h"

namespace pareto::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

/// Returns two cores that were busy for so long.
MachineLoad two_cores(Nanoseconds busy, double load = 1) { return {busy, 2, load}; }

cluster::Observation observation(Nanoseconds clock, Nanoseconds cpu, const MachineLoad& load) {
  cluster::Observation one;
  one.clock = clock;
  one.cpu = cpu;
  one.machine.load = load;
  return one;
}

class ForeignLoadTest : public testing::Test {
 protected:
  ForeignLoadTest() {
    infos_[0].place.boot = "here";
    infos_[1].place.boot = "there";
    infos_[2].place.boot = "there";
    before_.own = {seconds(50), seconds(3), two_cores(seconds(1000))};
    before_.devices = {observation(seconds(50), seconds(1), two_cores(seconds(1000))),
                       observation(seconds(900), seconds(20), two_cores(seconds(70))),
                       observation(seconds(900), seconds(30), two_cores(seconds(70)))};
    after_ = before_;
    pass(seconds(10));
  }
  /// Lets all clocks go on by that time, and nobody does anything.
  void pass(Nanoseconds time) {
    after_.own.clock += time;
    for (auto& device : after_.devices) device->clock += time;
  }
  std::vector<results::ForeignLoad> found() const {
    return foreign_load(infos_, {"a", "b", "c"}, "here", before_, after_);
  }

  std::vector<cluster::DeviceInfo> infos_{3};
  LoadReading before_;
  LoadReading after_;
};

TEST_F(ForeignLoadTest, IsNothingWhileOnlyWeAndOurDaemonsCompute) {
  after_.own.cpu += seconds(2);
  after_.devices[0]->cpu += seconds(8);
  after_.own.load.busy += seconds(10);
  after_.devices[1]->cpu += seconds(9);
  after_.devices[2]->cpu += seconds(9);
  after_.devices[1]->machine.load.busy += seconds(18);
  const auto loads = found();
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].machine, results::kThisMachine);
  EXPECT_EQ(loads[1].machine, "b, c");
  for (const results::ForeignLoad& load : loads) {
    EXPECT_DOUBLE_EQ(load.share, 0) << load.machine;
    EXPECT_EQ(load.cores, 2);
    EXPECT_DOUBLE_EQ(load.seconds, 10);
  }
}

TEST_F(ForeignLoadTest, IsAllThatIsNotOursOfAllCores) {
  after_.own.cpu += seconds(2);
  after_.devices[0]->cpu += seconds(4);
  after_.own.load = two_cores(seconds(1000 + 2 + 4) + milliseconds(12'200), 5.8);
  const auto loads = found();
  EXPECT_NEAR(loads[0].share, 0.61, 1e-9);
  EXPECT_DOUBLE_EQ(loads[0].load, 5.8);
  EXPECT_DOUBLE_EQ(loads[1].share, 0);
}

TEST_F(ForeignLoadTest, IsKnownOfEachDevice) {
  after_.own.load = two_cores(seconds(1000) + milliseconds(12'200), 5.8);
  const auto shares = [&] {
    return foreign_shares(infos_, {"a", "b", "c"}, "here", before_, after_);
  };
  ASSERT_EQ(shares().size(), 3U);
  EXPECT_NEAR(shares()[0].value(), 0.61, 1e-9);
  EXPECT_EQ(shares()[1], 0.0);
  EXPECT_EQ(shares()[2], 0.0);
  after_.devices[2].reset();
  EXPECT_TRUE(shares()[0]);
  EXPECT_FALSE(shares()[1]) << "of their machine nothing is known any more";
  EXPECT_FALSE(shares()[2]);
}

TEST_F(ForeignLoadTest, IsNotKnownOfARestartedDaemonsMachine) {
  after_.devices[2]->cpu = seconds(1);
  EXPECT_THAT(found(), ElementsAre(Field(&results::ForeignLoad::machine, results::kThisMachine)));
}

TEST_F(ForeignLoadTest, IsNotKnownIfADeviceDidNotAnswerOrDoesNotTell) {
  after_.devices[1].reset();
  EXPECT_THAT(found(), ElementsAre(Field(&results::ForeignLoad::machine, results::kThisMachine)));
  after_ = before_;
  pass(seconds(1));
  after_.own.load = {};
  EXPECT_THAT(found(), ElementsAre(Field(&results::ForeignLoad::machine, "b, c")));
}

TEST_F(ForeignLoadTest, DevicesThatDoNotSayWhereTheyAreAreMachinesOfTheirOwn) {
  for (cluster::DeviceInfo& info : infos_) info.place.boot.clear();
  EXPECT_EQ(found().size(), 4U);
}

TEST(ForeignLoadMeter, SeesCompanyThatComesAndGoes) {
  const auto transport = transport::make_transport("inproc").value();
  test::FakeDaemon device("a", *transport);
  cluster::Observation seen = observation(seconds(1), seconds(1), two_cores(seconds(5)));
  device.set_observation(seen);
  ForeignLoadMeter meter({&device});
  meter.start();
  EXPECT_THAT(meter.company(), IsEmpty());
  seen.other_coordinators = 1;
  seen.other_pipelines = 3;
  device.set_observation(seen);
  meter.finish();
  seen.other_pipelines = 1;
  device.set_observation(seen);
  meter.finish();
  ASSERT_EQ(meter.company().size(), 1U);
  EXPECT_EQ(meter.company()[0].device, "a");
  EXPECT_EQ(meter.company()[0].coordinators, 1);
  EXPECT_EQ(meter.company()[0].pipelines, 3);
  seen.other_coordinators = seen.other_pipelines = 0;
  device.set_observation(seen);
  meter.start();
  EXPECT_THAT(meter.company(), IsEmpty()) << "of another pass";
}

TEST(ForeignLoadMeter, WatchesEveryDeviceOfACluster) {
  test::MemoryTransport transport;
  std::vector<test::FakeDaemon*> daemons;
  const cluster::Cluster cluster =
      cluster::Cluster::of(test::fake_devices({"a", "b"}, transport, daemons));
  cluster::Observation seen = observation(seconds(1), seconds(1), two_cores(seconds(5)));
  seen.other_coordinators = seen.other_pipelines = 1;
  daemons[1]->set_observation(seen);
  ForeignLoadMeter meter(cluster);
  meter.start();
  EXPECT_THAT(meter.company(), ElementsAre(Field(&results::Company::device, "b")));
  EXPECT_EQ(meter.shares().size(), 2U);
}

TEST(ForeignLoadMeter, ADeadDeviceIsLeftOut) {
  const auto transport = transport::make_transport("inproc").value();
  test::FakeDaemon device("a", *transport);
  device.set_observation(observation(seconds(1), seconds(1), two_cores(seconds(5))));
  ForeignLoadMeter meter({&device});
  meter.start();
  device.die();
  meter.finish();
  for (const results::ForeignLoad& load : meter.others())
    EXPECT_EQ(load.machine, results::kThisMachine);
}

}  // namespace
}  // namespace pareto::load
