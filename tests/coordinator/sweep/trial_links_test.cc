#include "coordinator/sweep/trial_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "coordinator/cluster/codec_choice.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::sweep {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Makes a trial of stages on these devices, with a link for each of the transports.
results::TrialRecord trial_on(const std::vector<std::string>& devices,
                              std::vector<std::string> transports,
                              std::vector<std::string> codecs = {}) {
  results::TrialRecord trial;
  for (const std::string& device : devices) trial.plan.stages.push_back({device, 0, 1});
  trial.plan.set_transports(std::move(transports));
  trial.plan.codecs = std::move(codecs);
  return trial;
}

std::vector<results::TrialRecord*> pointers(std::vector<results::TrialRecord>& trials) {
  std::vector<results::TrialRecord*> all;
  for (results::TrialRecord& trial : trials) all.push_back(&trial);
  return all;
}

/// Devices a and b are here, c is on another machine; each serves shm, tcp and grpc.
class TransportsOfTrials : public testing::Test {
 protected:
  TransportsOfTrials() {
    transport::Place elsewhere = transport::this_place();
    elsewhere.boot = "another";
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (const char* name : {"a", "b", "c"}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, transport_);
      daemon->set_place(*name == 'c' ? elsewhere : transport::this_place(), /*serves_shm=*/true);
      daemon->serve_tcp();
      daemon->serve("grpc");
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(cluster::Cluster::of(std::move(devices)));
  }

  profile::LinkTransports transports(std::vector<results::TrialRecord> trials) {
    auto links = transports_of(pointers(trials), *cluster_);
    EXPECT_TRUE(links) << links.error().message;
    return links.value_or(profile::LinkTransports{});
  }

  static constexpr std::size_t kCoordinator = 3;
  test::MemoryTransport transport_;
  std::optional<cluster::Cluster> cluster_;
};

TEST_F(TransportsOfTrials, AreThoseOfEachOfTheirLinks) {
  const profile::LinkTransports links = transports(
      {trial_on({"a", "b", "c"}, {"shm", "tcp", "grpc", "tcp"}), trial_on({"a"}, {"tcp", "tcp"}),
       trial_on({"a", "b"}, {"shm", "shm", "grpc"}), trial_on({"a"}, {"shm", "tcp"})});
  EXPECT_THAT(links[kCoordinator][0], ElementsAre("shm", "tcp"));
  EXPECT_THAT(links[0][1], ElementsAre("tcp", "shm"));
  EXPECT_THAT(links[1][2], ElementsAre("grpc"));
  EXPECT_THAT(links[2][kCoordinator], ElementsAre("tcp"));
  EXPECT_THAT(links[1][kCoordinator], ElementsAre("grpc"));
  EXPECT_THAT(links[0][kCoordinator], ElementsAre("tcp"));
  EXPECT_THAT(links[1][0], IsEmpty()) << "no trial sends anything that way";
  EXPECT_THAT(links[0][2], IsEmpty());
}

TEST_F(TransportsOfTrials, LeaveNoDeviceWithoutALinkToBeProfiledOver) {
  const profile::LinkTransports links = transports({trial_on({"a"}, {"tcp", "tcp"})});
  EXPECT_THAT(links[kCoordinator][1], ElementsAre("shm")) << "the nearest";
  EXPECT_THAT(links[2][kCoordinator], ElementsAre("tcp"));
}

TEST_F(TransportsOfTrials, AreNoneThatALinkCannotHave) {
  const profile::LinkTransports links =
      transports({trial_on({"b", "c"}, {"tcp", "shm", "tcp"}),
                  trial_on({"a", "gone"}, {"tcp", "tcp", "tcp"})});
  EXPECT_THAT(links[1][2], IsEmpty()) << "the plan fails when it is measured, which says why";
  EXPECT_THAT(links[kCoordinator][0], ElementsAre("shm")) << "nothing runs with a device missing";
}

TEST(CodecsOfTrials, AreThoseNamedAndThoseThatAutoMayStandFor) {
  std::vector<results::TrialRecord> trials{trial_on({"a", "b"}, {"tcp"}),
                                           trial_on({"a", "b"}, {"tcp"}, {"int8"}),
                                           trial_on({"a", "b", "c"}, {"tcp"}, {"fp16", "int8"})};
  EXPECT_THAT(codecs_of(pointers(trials), 0.5), ElementsAre("none", "int8", "fp16"));
  trials = {trial_on({"a", "b"}, {"tcp"}, {"auto"})};
  EXPECT_EQ(codecs_of(pointers(trials), 0), cluster::codecs_losing(0));
  EXPECT_THAT(cluster::codecs_losing(0), Contains("zero-bitmap"));
  EXPECT_THAT(cluster::codecs_losing(0), Not(Contains("int8")));
  EXPECT_THAT(codecs_of(pointers(trials), 0.5), Contains("int8"));
}

/// Two devices; from the first one to the second there are four ways, of which that by tcp with
/// int8 is the quickest.
class WaysOfPlans : public testing::Test {
 protected:
  WaysOfPlans() {
    inputs_.boundary_bytes = {1000, 1000, 1000};
    inputs_.devices.resize(2);
    planning::LinkCosts near;
    near.codecs = {way("none", "shm", 1), way("none", "tcp", 2)};
    planning::LinkCosts between;
    between.codecs = {way("none", "tcp", 9), way("none", "grpc", 1), way("fp16", "tcp", 5, 100),
                      way("int8", "tcp", 3, 5000)};
    inputs_.links.assign(3, std::vector<planning::LinkCosts>(3, near));
    inputs_.links[0][1] = between;
  }

  static planning::LinkCodec way(const std::string& codec, const std::string& transport,
                                 int takes_ms, std::int64_t loss = 0) {
    planning::LinkCodec way;
    way.name = codec;
    way.transport = transport;
    way.figures.loss = loss;
    way.measured = {{1000, {milliseconds(takes_ms), {}, {}, {}}}};
    return way;
  }

  Expected<std::vector<int>> ways(std::vector<std::string> transports,
                                  std::vector<std::string> codecs, double codec_error = 0) const {
    const results::TrialRecord trial =
        trial_on({"a", "b"}, std::move(transports), std::move(codecs));
    return ways_of(trial.plan, {{{0, 0, 1}, {1, 1, 2}}}, inputs_, codec_error);
  }

  planning::CostInputs inputs_;
};

TEST_F(WaysOfPlans, AreOfEachLinksTransport) {
  EXPECT_THAT(*ways({"tcp", "tcp", "tcp"}, {}), ElementsAre(1, 0, 1));
  EXPECT_THAT(*ways({"shm", "grpc", "tcp"}, {}), ElementsAre(0, 1, 1));
}

TEST_F(WaysOfPlans, HaveACodecBetweenDevicesAlone) {
  EXPECT_THAT(*ways({"tcp", "tcp", "tcp"}, {"fp16"}), ElementsAre(1, 2, 1));
  EXPECT_THAT(*ways({"shm", "tcp", "shm"}, {"none"}), ElementsAre(0, 0, 0));
}

TEST_F(WaysOfPlans, AutoIsTheQuickestThatLosesNoMoreThanIsAllowed) {
  const auto of_auto = [&](double error) { return *ways({"tcp", "tcp", "tcp"}, {"auto"}, error); };
  EXPECT_THAT(of_auto(0), ElementsAre(1, 0, 1));
  EXPECT_THAT(of_auto(1e-4), ElementsAre(1, 2, 1));
  EXPECT_THAT(of_auto(0.0049), ElementsAre(1, 2, 1));
  EXPECT_THAT(of_auto(0.005), ElementsAre(1, 3, 1));
  inputs_.links[0][1].codecs[2].measured = inputs_.links[0][1].codecs[0].measured;
  EXPECT_THAT(of_auto(1e-4), ElementsAre(1, 0, 1)) << "of equal ones the first";
}

TEST_F(WaysOfPlans, OneThatWasNotProbedIsNamed) {
  const auto none = ways({"tcp", "grpc", "tcp"}, {"int8"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("link 1 was not probed over grpc with codec int8"));
}

}  // namespace
}  // namespace pareto::sweep
