#include "coordinator/profile/profiler.h"

#include <gmock/gmock.h>

#include "coordinator/cluster/network.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/memory_store.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::profile {
namespace {

using testing::Each;
using testing::SizeIs;

/// Two devices whose profiles are kept for batches of 1 and 8, with one link, from the first to the
/// second.
class ProfilerOfKept : public testing::Test {
 protected:
  ProfilerOfKept() {
    cluster_ = cluster::Cluster::of(test::fake_devices({"pi-1", "pi-2"}, transport_, daemons_));
    // Of the coordinator's links nothing is asked: they would be real.
    for (test::FakeDaemon* daemon : daemons_) daemon->serve("inproc");
    links_[0][1] = {"inproc"};
    for (const std::int64_t batch : {1, 8}) {
      for (std::size_t i = 0; i < 2; ++i) keep(cluster_->device(i), batch);
    }
  }

  void keep(const cluster::DaemonClient& device, std::int64_t batch) {
    ProfileRequest request;
    request.model = model_.name();
    request.model_digest = model_.digest().hex();
    request.settings.batch = batch;
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    const std::int64_t cut = model_.split_points()[splits().front()].position;
    plan::DeviceProfile profile;
    profile.device = device.config().name;
    profile.batch = batch;
    profile.operators.assign(static_cast<std::size_t>(operators), Nanoseconds(batch));
    profile.shards = {{0, cut, Nanoseconds(1), Nanoseconds(1), 0},
                      {0, operators, Nanoseconds(2), Nanoseconds(2), 0},
                      {cut, operators, Nanoseconds(1), Nanoseconds(1), 0}};
    ASSERT_TRUE(store_.put_profile(profile_key(*cluster_, device, request), profile));
  }
  planning::SplitChoice splits() const {
    return model::select_split_points(model_.split_points(), "after:features.5").value();
  }

  /// Returns the sizes probed after profile(), with nothing left to be measured.
  std::vector<std::uint64_t> probed_sizes(Profiler& profiler) {
    const auto silent = [](const std::string&, std::size_t, std::size_t) {};
    EXPECT_TRUE(profiler.profile(links_, workload_, silent));
    EXPECT_FALSE(profiler.measured_now());
    const auto probed = profiler.probe(links_, cluster::Network::kNone, silent);
    EXPECT_TRUE(probed);
    std::vector<std::uint64_t> sizes;
    for (const auto& point : probed->front().links[0][1].points) sizes.push_back(point.bytes);
    return sizes;
  }

  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  std::optional<cluster::Cluster> cluster_;
  model::Model model_ = test::small_model();
  cluster::ModelWorkload workload_{model_};
  cluster::ShardPool pool_{workload_};
  test::MemoryStore store_;
  LinkTransports links_{3, std::vector<std::vector<std::string>>(3)};
  std::atomic<bool> stop_{false};
};

TEST_F(ProfilerOfKept, CountsTheLinksThatItProbes) {
  PlanningOptions options;
  options.splits = "after:features.5";
  Profiler profiler(model_, *cluster_, pool_, store_, options, stop_);
  links_[1][0] = {"inproc"};
  ASSERT_TRUE(profiler.profile(links_, workload_, [](const auto&...) {}));
  std::vector<std::pair<std::size_t, std::size_t>> counts;
  ASSERT_TRUE(profiler.probe(links_, cluster::Network::kNone,
                             [&](const std::string& now, std::size_t done, std::size_t total) {
                               EXPECT_THAT(now, testing::StartsWith("probing pi-"));
                               counts.emplace_back(done, total);
                             }));
  EXPECT_THAT(counts, testing::ElementsAre(std::pair(0, 2), std::pair(1, 2), std::pair(2, 2)));
}

TEST_F(ProfilerOfKept, TellsWhichProfilesWereMeasuredOnABusyMachine) {
  PlanningOptions options;
  options.splits = "after:features.5";
  Profiler profiler(model_, *cluster_, pool_, store_, options, stop_);
  const auto silent = [](const auto&...) {};
  ASSERT_TRUE(profiler.profile(links_, workload_, silent));
  EXPECT_THAT(profiler.doubts(), testing::IsEmpty()) << "nobody knows what others did";
  for (const auto& [device, share] : {std::pair(0U, 0.46), std::pair(1U, 0.09)}) {
    plan::DeviceProfile profile = profiler.devices()[device].profile;
    profile.measured = "2026-11-27T07:10:02Z";
    profile.others_share = share;
    ProfileRequest request;
    request.model_digest = model_.digest().hex();
    ASSERT_TRUE(
        store_.put_profile(profile_key(*cluster_, cluster_->device(device), request), profile));
  }
  ASSERT_TRUE(profiler.profile(links_, workload_, silent));
  EXPECT_THAT(
      profiler.doubts(),
      testing::ElementsAre("profile of pi-1: measured 2026-11-27T07:10:02Z, when others used "
                           "46 % of its machine: predictions may be far off; on a quiet "
                           "machine, plan or profile with --fresh measures it again"));
}

TEST(ProbesOf, BothWaysToTheCoordinatorAreOne) {
  LinkTransports links(3, std::vector<std::vector<std::string>>(3));
  EXPECT_EQ(probes_of(links, "tcp"), 0U);
  // As a chain has them: source to pi-1, pi-1 to pi-2, pi-2 to sink.
  links[2][0] = links[1][2] = {"tcp"};
  links[0][1] = {"shm", "tcp"};
  EXPECT_EQ(probes_of(links, "tcp"), 3U);
  EXPECT_EQ(probes_of(links, "shm"), 1U);
  links[0][2] = {"tcp"};
  EXPECT_EQ(probes_of(links, "tcp"), 3U);
}

TEST_F(ProfilerOfKept, ProbesItsLinksOnceForAllSettings) {
  PlanningOptions options;
  options.splits = "after:features.5";
  Profiler alone(model_, *cluster_, pool_, store_, options, stop_);
  const auto of_one = probed_sizes(alone);
  options.probed_batches = {1, 8};
  Profiler profiler(model_, *cluster_, pool_, store_, options, stop_);
  const auto of_both = probed_sizes(profiler);
  EXPECT_EQ(of_both.front(), of_one.front());
  EXPECT_EQ(of_both.back(), 8 * of_one.back());
  EXPECT_EQ(profiler.devices().front().profile.batch, 1);

  const int probes = daemons_[0]->rates_measured();
  profiler.use({{}, 8});
  EXPECT_EQ(probed_sizes(profiler), of_both);
  EXPECT_EQ(daemons_[0]->rates_measured(), probes);
  EXPECT_THAT(profiler.devices(), SizeIs(2));
  for (const planning::DeviceFacts& device : profiler.devices()) {
    EXPECT_EQ(device.profile.batch, 8);
    EXPECT_THAT(device.profile.operators, Each(Nanoseconds(8)));
  }
}

}  // namespace
}  // namespace pareto::profile
