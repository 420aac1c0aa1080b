#include "client/planning/planner.h"

#include <gmock/gmock.h>

#include "client/cluster/network.h"
#include "tests/client/support/fake_devices.h"
#include "tests/client/support/memory_store.h"
#include "tests/client/support/small_model.h"

namespace pareto::client {
namespace {

using testing::Each;
using testing::SizeIs;

/// Two devices whose profiles are kept for batches of 1 and 8, with one link, from the first to the second.
class PlannerOfKept : public testing::Test {
 protected:
  PlannerOfKept() {
    cluster_ = Cluster::of(fake_devices({"pi-1", "pi-2"}, transport_, daemons_));
    // Of the coordinator's links nothing is asked: they would be real.
    for (FakeDaemon* daemon : daemons_) daemon->serve("inproc");
    links_[0][1] = {"inproc"};
    for (const std::int64_t batch : {1, 8}) {
      for (std::size_t i = 0; i < 2; ++i) keep(cluster_->device(i), batch);
    }
  }

  void keep(const DaemonClient& device, std::int64_t batch) {
    ProfileWish wish;
    wish.model = model_.name();
    wish.model_digest = model_.digest().hex();
    wish.settings.batch = batch;
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    const std::int64_t cut = model_.split_points()[splits().front()].position;
    DeviceProfile profile;
    profile.device = device.config().name;
    profile.batch = batch;
    profile.operators.assign(static_cast<std::size_t>(operators), Nanoseconds(batch));
    profile.shards = {{0, cut, Nanoseconds(1), Nanoseconds(1), 0},
                      {0, operators, Nanoseconds(2), Nanoseconds(2), 0},
                      {cut, operators, Nanoseconds(1), Nanoseconds(1), 0}};
    ASSERT_TRUE(store_.put_profile(profile_key(*cluster_, device, wish), profile));
  }
  SplitChoice splits() const {
    return partitioner::select_split_points(model_.split_points(), "after:features.5").value();
  }

  /// After profile(), with nothing left to be measured.
  std::vector<std::uint64_t> probed_sizes(Planner& planner) {
    const auto silent = [](const std::string&, std::size_t, std::size_t) {};
    EXPECT_TRUE(planner.profile(links_, workload_, silent));
    EXPECT_FALSE(planner.measured_now());
    const auto probed = planner.probe(links_, Network::kNone, silent);
    EXPECT_TRUE(probed);
    std::vector<std::uint64_t> sizes;
    for (const auto& point : probed->front().links[0][1].points) sizes.push_back(point.bytes);
    return sizes;
  }

  MemoryTransport transport_;
  std::vector<FakeDaemon*> daemons_;
  std::optional<Cluster> cluster_;
  partitioner::Model model_ = small_model();
  ModelWorkload workload_{model_};
  ShardPool pool_{workload_};
  MemoryStore store_;
  LinkTransports links_{3, std::vector<std::vector<std::string>>(3)};
  std::atomic<bool> stop_{false};
};

TEST_F(PlannerOfKept, ProbesItsLinksOnceForAllSettings) {
  PlanningOptions options;
  options.splits = "after:features.5";
  Planner alone(model_, *cluster_, pool_, store_, options, stop_);
  const auto of_one = probed_sizes(alone);
  options.probed_batches = {1, 8};
  Planner planner(model_, *cluster_, pool_, store_, options, stop_);
  const auto of_both = probed_sizes(planner);
  EXPECT_EQ(of_both.front(), of_one.front());
  EXPECT_EQ(of_both.back(), 8 * of_one.back());
  EXPECT_EQ(planner.devices().front().profile.batch, 1);

  const int probes = daemons_[0]->rates_measured();
  planner.use({"auto", "fp32", 0, 8});
  EXPECT_EQ(probed_sizes(planner), of_both);
  EXPECT_EQ(daemons_[0]->rates_measured(), probes);
  EXPECT_THAT(planner.devices(), SizeIs(2));
  for (const DeviceFacts& device : planner.devices()) {
    EXPECT_EQ(device.profile.batch, 8);
    EXPECT_THAT(device.profile.operators, Each(Nanoseconds(8)));
  }
}

}  // namespace
}  // namespace pareto::client
