#include "coordinator/profile/profiled_stages.h"

#include <gmock/gmock.h>

#include "coordinator/cluster/deployment.h"
#include "coordinator/profile/device_profiler.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/memory_store.h"
#include "tests/coordinator/support/memory_transport.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::profile {
namespace {

using testing::Each;
using testing::ElementsAre;

class ProfiledStages : public testing::Test {
 protected:
  ProfiledStages() {
    cluster_ = cluster::Cluster::of(test::fake_devices({"pi-1", "pi-2"}, transport_, daemons_));
    plan_.model = model_.name();
    plan_.stages = {{"pi-1", 0, cut_}, {"pi-2", cut_, operators_}};
    keep(0, 10);
    keep(1, 20);
  }

  /// Keeps a profile of all operators and both sides of the cut: `each` nanoseconds an operator,
  /// and half of it on a device that is busy.
  void keep(std::size_t stage, std::int64_t each) {
    ProfileRequest request;
    request.model = model_.name();
    request.model_digest = model_.digest().hex();
    request.operators = operators_;
    request.settings = cluster::shard_settings(plan_, stage);
    plan::DeviceProfile profile;
    profile.operators.assign(static_cast<std::size_t>(operators_), Nanoseconds(each));
    for (const auto& [begin, end] :
         {std::pair(std::int64_t{0}, cut_), {std::int64_t{0}, operators_}, {cut_, operators_}}) {
      profile.shards.push_back({begin, end, Nanoseconds((end - begin) * each),
                                Nanoseconds((end - begin) * each / 2), 0});
    }
    ASSERT_TRUE(store_.put_profile(
        profile_key(*cluster_, **cluster_->find(plan_.stages[stage].device), request), profile));
  }
  std::vector<Nanoseconds> stages() {
    return profiled_stages(plan_, model_, *cluster_, store_).value();
  }

  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  std::optional<cluster::Cluster> cluster_;
  model::Model model_ = test::small_model();
  const std::int64_t operators_ = static_cast<std::int64_t>(model_.graph().operators.size());
  const std::int64_t cut_ = model_.split_points()[model_.split_points().size() / 2].position;
  plan::Plan plan_;
  test::MemoryStore store_;
};

TEST_F(ProfiledStages, TakeWhatTheirDevicesTookWhenAllWereAtWork) {
  EXPECT_THAT(stages(), ElementsAre(Nanoseconds(cut_ * 5), Nanoseconds((operators_ - cut_) * 10)));
  plan_.stages = {{"pi-2", 0, operators_}};
  EXPECT_THAT(stages(), ElementsAre(Nanoseconds(operators_ * 10)));
  plan_.stages.push_back({"pi-1", 0, operators_});
  plan_.replicated = true;
  EXPECT_THAT(stages(), ElementsAre(Nanoseconds(operators_ * 10), Nanoseconds(operators_ * 5)));
}

TEST_F(ProfiledStages, AreNotKnownOfADeviceThatWasNotProfiledLikeThat) {
  store_.profiles.erase(store_.profiles.begin());
  EXPECT_EQ(std::ranges::count(stages(), Nanoseconds(0)), 1);
  plan_.batch = 8;
  EXPECT_THAT(stages(), Each(Nanoseconds(0))) << "of another batch";
}

TEST_F(ProfiledStages, TakeWhatTheirDevicesTookWithTheirSettings) {
  plan_.stages[1].settings = {"auto", "bf16", 2};
  EXPECT_THAT(stages(), ElementsAre(Nanoseconds(cut_ * 5), Nanoseconds(0)));
  keep(1, 8);
  EXPECT_THAT(stages(), ElementsAre(Nanoseconds(cut_ * 5), Nanoseconds((operators_ - cut_) * 4)));
}

TEST_F(ProfiledStages, AreNotKnownOfPartsOfAModelOrSetsOfOperators) {
  plan_.stages.front().operators = {{0, cut_}};
  EXPECT_THAT(stages(), Each(Nanoseconds(0)));
  plan_.stages = {{"pi-1", cut_, operators_}};
  EXPECT_THAT(stages(), Each(Nanoseconds(0)));
}

}  // namespace
}  // namespace pareto::profile
