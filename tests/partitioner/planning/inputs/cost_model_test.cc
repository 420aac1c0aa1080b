#include "partitioner/planning/inputs/cost_model.h"

#include <gmock/gmock.h>

#include "coordinator/profile/profiler.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/inputs/ideal_plans.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

transport::ProbePoint probed(std::int64_t crossing, std::int64_t interval, std::int64_t send,
                             std::int64_t receive) {
  return {100, Nanoseconds(crossing), Nanoseconds(interval), Nanoseconds(send),
          Nanoseconds(receive)};
}

/// A message's times add up to its crossing, whatever was measured.
TEST(LinkPoint, AddsUp) {
  for (const auto& point : {probed(100, 20, 5, 7), probed(100, 200, 5, 7), probed(100, 20, 80, 40),
                            probed(0, 20, 5, 7), probed(100, 0, 0, 0)}) {
    const LinkTimes times = link_point(point).times;
    EXPECT_EQ(times.occupancy + times.delay + times.send + times.receive, point.crossing);
    for (const Nanoseconds time : {times.occupancy, times.delay, times.send, times.receive}) {
      EXPECT_GE(time.count(), 0);
    }
  }
}

TEST(LinkPoint, IsBusyForAsLongAsTheNextOneWaits) {
  const LinkTimes slow = link_point(probed(100, 20, 5, 7)).times;
  EXPECT_EQ(slow.occupancy.count(), 20);
  EXPECT_EQ(slow.delay.count(), 68);
  const LinkTimes local = link_point(probed(100, 200, 30, 60)).times;
  EXPECT_EQ(local.occupancy.count(), 10) << "the processors are what holds it up";
}

/// Returns one device that works twice as fast by its second transport, and a second one that can
/// only have the first.
CostInputs two_ways() {
  CostInputs inputs;
  inputs.boundary_bytes = {100, 100, 100};
  inputs.devices.resize(2);
  LinkCosts near;
  near.codecs = {{"none", {}, {}, "shm"}, {"none", {}, {}, "tcp"}};
  LinkCosts between;
  between.codecs = {{"none", {}, {}, "tcp"}, {"lz4", {}, {}, "tcp"}};
  LinkCosts far;
  far.codecs = {{"none", {}, {}, "tcp"}};
  inputs.links = {{{}, between, near}, {between, {}, far}, {near, far, {}}};
  return inputs;
}

TEST(ChooseLinks, NamesTheTransportAndCodecOfEach) {
  const CostInputs inputs = two_ways();
  plan::Plan plan;
  plan.stages = {{"a", 0, 1}, {"b", 1, 2}};
  choose_links(inputs, {{{0, 0, 1}, {1, 1, 2}}, {0, 1, 0}}, plan);
  EXPECT_THAT(plan.transports, ElementsAre("shm", "tcp", "tcp"));
  EXPECT_THAT(plan.codecs, ElementsAre("lz4"));
  choose_links(inputs, {{{0, 0, 1}, {1, 1, 2}}, {1, 0, 0}}, plan);
  EXPECT_THAT(plan.transports, IsEmpty());
  EXPECT_EQ(plan.transport, "tcp");
  EXPECT_THAT(plan.codecs, IsEmpty()) << "none everywhere is said by saying nothing";
  plan.stages = {{"a", 0, 2}};
  choose_links(inputs, {{{0, 0, 2}}}, plan);
  EXPECT_EQ(plan.transport, "shm") << "without a choice the first of each";
}

model::GraphValue value(std::int64_t producer, std::vector<std::int64_t> users,
                        std::int64_t floats) {
  model::GraphValue made;
  made.name = fmt::format("v{}", producer);
  made.producer = producer;
  made.users = std::move(users);
  made.spec.kind = ValueSpec::Kind::kTensor;
  made.spec.tensor.dims = {SymbolicDim{0, 1}, SymbolicDim{floats, 0}};
  return made;
}

TEST(EarlyValues, AreThoseMadeWellBeforeTheStageEnds) {
  // 0 -> 1 -> 2 -> 3, and what 0 and 1 make is read by 3 as well; so is the input, which is handed
  // on.
  model::Graph graph;
  graph.operators.resize(4);
  graph.values = {value(-1, {0, 3}, 1), value(0, {1, 3}, 10), value(1, {2, 3}, 20),
                  value(2, {3}, 30), value(3, {}, 40)};
  graph.inputs = {0};
  graph.outputs = {4};
  plan::DeviceProfile profile;
  profile.device = "a";
  profile.operators = {std::chrono::microseconds(100), std::chrono::microseconds(500),
                       std::chrono::microseconds(150), std::chrono::microseconds(50)};
  // Twice as fast as in the plain engine.
  profile.shards = {{0, 4, std::chrono::microseconds(400), std::chrono::microseconds(400), 0}};
  const auto early = early_values(graph, profile, {{}, {{0, 1}}, {{0, 2}}, {{0, 3}}, {{0, 4}}}, 2);
  ASSERT_TRUE(early) << early.error().message;
  const auto early_value = [](std::int64_t bytes, int lead_us) {
    return EarlyValue{bytes, std::chrono::microseconds(lead_us)};
  };
  EXPECT_THAT(
      *early,
      ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(early_value(8, 300), early_value(80, 250)),
                  ElementsAre(early_value(8, 375), early_value(80, 325)), IsEmpty()))
      << "75 us are not worth a message";
}

/// Sizes of one model, links whose every message takes as long: tcp 300 ns, shm 100 ns, shm to the
/// first device alone.
class CostInputsOfLinks : public testing::Test {
 protected:
  CostInputsOfLinks() {
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    for (const char* name : {"a", "b"}) {
      DeviceFacts facts;
      facts.profile.device = name;
      facts.profile.operators.assign(static_cast<std::size_t>(operators), Nanoseconds(10));
      facts.profile.shards = {{0, operators, Nanoseconds(1000), Nanoseconds(1000), 0}};
      facts.figures["power"] = 5000;
      devices_.push_back(facts);
    }
    ProbedTransport tcp{"tcp", ProbedLinks(3, std::vector<transport::ProbeResult>(3))};
    ProbedTransport shm = tcp;
    shm.name = "shm";
    for (std::size_t from = 0; from < 3; ++from) {
      for (std::size_t to = 0; to < 3; ++to) {
        if (from != to) tcp.links[from][to] = every(300);
      }
    }
    shm.links[2][0] = shm.links[0][2] = every(100);
    transports_ = {tcp, shm};
  }

  static transport::ProbeResult every(std::int64_t crossing) {
    return {Nanoseconds(1), {probed(crossing, crossing, 0, 0)}};
  }

  model::Model model_ = test::small_model();
  std::vector<DeviceFacts> devices_;
  std::vector<ProbedTransport> transports_;
};

TEST_F(CostInputsOfLinks, EveryCodecByEveryTransport) {
  ProbedCodecs codecs;
  codecs.codecs = {"none", "int8"};
  codecs.positions = {1};
  codecs.plain_bytes = {100};
  codecs.crossing = {{{"none", 100, {}, {}, 0}, {"int8", 25, Nanoseconds(200), {}, 1e-3}}};
  codecs.standard = {{"none", 100, {}, {}, 0}, {"int8", 25, Nanoseconds(5), Nanoseconds(5), 0}};
  codecs.on_devices = {codecs.standard, codecs.standard};
  const auto inputs = make_cost_inputs(model_, {10}, 1, devices_, transports_, codecs);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->devices[1].figures.at("power"), 5000);
  const auto ways = [&](int from, int to) {
    std::vector<std::string> names;
    for (const auto& way : inputs->link(from, to).codecs) {
      names.push_back(way.name + " by " + way.transport);
    }
    return names;
  };
  EXPECT_THAT(ways(2, 0), ElementsAre("none by tcp", "none by shm"));
  EXPECT_THAT(ways(2, 1), ElementsAre("none by tcp"));
  EXPECT_THAT(ways(0, 1), ElementsAre("none by tcp", "int8 by tcp"));
  EXPECT_FALSE(inputs->link(0, 0).usable);
  EXPECT_EQ(link_times(inputs->link(2, 0), 1, 0, 100).occupancy.count(), 100);
  EXPECT_EQ(link_times(inputs->link(0, 1), 1, 1, 100).send.count(), 200);
  EXPECT_EQ(codec_figures(inputs->link(0, 1), 1, 1).loss, 1000);
  EXPECT_EQ(codec_figures(inputs->link(0, 1), 0, 1).loss, 0);
}

TEST_F(CostInputsOfLinks, DevicesOnOneMediumShareItsTime) {
  EXPECT_EQ(make_cost_inputs(model_, {10}, 1, devices_, transports_).value().media, 0);
  devices_[1].medium = "attic";
  const auto inputs = make_cost_inputs(model_, {10}, 1, devices_, transports_);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->media, 1);
  EXPECT_THAT(inputs->link(0, 1).media, ElementsAre(MediumUse{0}));
  EXPECT_THAT(inputs->link(1, 2).media, ElementsAre(MediumUse{0}));
  EXPECT_THAT(inputs->link(0, 2).media, IsEmpty());
  // What crosses from one to the other and back to the coordinator has to take turns.
  const Placement halves{{{0, 0, 1}, {1, 1, 2}}};
  const auto shared = evaluate(*inputs, halves);
  ASSERT_TRUE(shared) << shared.error().message;
  const auto occupancy = [&](int from, int to, int position) {
    return link_times(inputs->link(from, to), 0, position, inputs->boundary(position)).occupancy;
  };
  EXPECT_GE(shared->bottleneck, occupancy(0, 1, 1) + occupancy(1, 2, 2));
}

TEST_F(CostInputsOfLinks, BetweenDevicesOfTwoMediaBothAreOccupied) {
  devices_[0].medium = "attic";
  devices_[1].medium = "cellar";
  ProbedTransport& tcp = transports_.front();
  tcp.links[2][0] = tcp.links[0][2] = every(100);
  const auto inputs = make_cost_inputs(model_, {10}, 1, devices_, {tcp});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->media, 2);
  EXPECT_THAT(inputs->medium_names, ElementsAre("attic", "cellar"));
  EXPECT_THAT(inputs->link(0, 1).media, ElementsAre(MediumUse{1}, MediumUse{0, 0.334}));
  EXPECT_THAT(inputs->link(1, 0).media, ElementsAre(MediumUse{1}, MediumUse{0, 0.334}));
  EXPECT_THAT(inputs->link(2, 0).media, ElementsAre(MediumUse{0}));
  EXPECT_THAT(inputs->link(1, 2).media, ElementsAre(MediumUse{1}));
}

TEST_F(CostInputsOfLinks, WithinAMachineNoMediumIsPassed) {
  devices_[0].medium = devices_[1].medium = "attic";
  const auto inputs = make_cost_inputs(model_, {10}, 1, devices_, transports_);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_THAT(inputs->link(2, 0).media, IsEmpty()) << "not by tcp either: it has shared memory";
  EXPECT_THAT(inputs->link(0, 1).media, ElementsAre(MediumUse{0}));
}

TEST(ShareMedia, AFarDeviceTakesLongOfAFastChannel) {
  std::vector<DeviceFacts> devices(3);
  devices[0].medium = devices[1].medium = "5g";
  devices[2].medium = "2g";
  const auto every = [](int ns) {
    LinkCosts link;
    link.codecs = {{"none", {}, {}, "tcp"}};
    link.codecs[0].measured = {link_point(probed(ns, ns, 0, 0))};
    return link;
  };
  CostInputs inputs;
  // The second is far from everything, the coordinator near.
  inputs.links = {{{}, every(500), every(100), every(20)},
                  {every(500), {}, every(500), every(500)},
                  {every(100), every(500), {}, every(100)},
                  {every(20), every(500), every(100), {}}};
  share_media(devices, inputs);
  EXPECT_THAT(inputs.link(1, 2).media, ElementsAre(MediumUse{0}, MediumUse{1, 0.2}));
  EXPECT_THAT(inputs.link(0, 2).media, ElementsAre(MediumUse{1}, MediumUse{0, 0.2}));
  EXPECT_THAT(inputs.link(0, 1).media, ElementsAre(MediumUse{0}));
  // It receives from near by, and sends as slowly as before.
  inputs.links[3][1] = every(20);
  for (auto& row : inputs.links) {
    for (LinkCosts& link : row) link.media.clear();
  }
  share_media(devices, inputs);
  EXPECT_THAT(inputs.link(1, 2).media, ElementsAre(MediumUse{0}, MediumUse{1, 0.2}));
}

TEST_F(CostInputsOfLinks, NoStageHoldsWhatADeviceHadNoRoomFor) {
  const SplitChoice splits{10, 30, 50};
  const auto position = [&](std::size_t split) { return model_.split_points()[split].position; };
  devices_[1].profile.too_large = {{position(10), position(40)}};
  const auto inputs = make_cost_inputs(model_, splits, 1, devices_, transports_);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const auto runs = [&](int device, int begin, int end) {
    const DeviceCosts& costs = inputs->devices[static_cast<std::size_t>(device)];
    return has_room(*inputs, costs, begin, end);
  };
  EXPECT_TRUE(runs(1, 1, 2)) << "10 to 30 is less";
  EXPECT_FALSE(runs(1, 1, 3)) << "10 to 50 is the smallest that holds 10 to 40";
  EXPECT_FALSE(runs(1, 0, 4));
  EXPECT_TRUE(runs(0, 0, 4));
  const auto alone = evaluate(*inputs, {{{1, 0, 4}}});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::kExhausted);
}

TEST_F(CostInputsOfLinks, NoWeightIsSharedWhereEachHasOneOperator) {
  const auto ideals = search::find_graph_ideals(model_.graph(), 1);
  ASSERT_TRUE(ideals) << ideals.error().message;
  const auto of_order = make_cost_inputs(model_, {10, 30}, 1, devices_, transports_);
  const auto of_ideals = make_ideal_cost_inputs(model_, *ideals, 1, devices_, transports_);
  ASSERT_TRUE(of_order && of_ideals);
  EXPECT_THAT(of_order->devices[0].shared_weights, IsEmpty());
  EXPECT_THAT(of_ideals->devices[0].shared_weights, IsEmpty());
}

TEST_F(CostInputsOfLinks, ALimitThatIsStatedHoldsAsWell) {
  const auto all = static_cast<std::int64_t>(model_.graph().operators.size());
  devices_[1].profile.too_large = {{0, all}};
  devices_[1].memory_limit_bytes = 5;
  const auto inputs = make_cost_inputs(model_, {10}, 1, devices_, transports_);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->devices[1].memory_limit_bytes, 5);
}

TEST_F(CostInputsOfLinks, OfIdealsNoneHoldsItEither) {
  const auto ideals = search::find_graph_ideals(model_.graph(), 1);
  ASSERT_TRUE(ideals) << ideals.error().message;
  const auto all = static_cast<std::int64_t>(model_.graph().operators.size());
  devices_[1].profile.too_large = {{0, all / 2}};
  const auto inputs = make_ideal_cost_inputs(model_, *ideals, 1, devices_, transports_);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const DeviceCosts& costs = inputs->devices[1];
  int possible = 0;
  int first = 0;
  for (int begin = 0; begin < inputs->positions(); ++begin) {
    for (const int end : inputs->ends[static_cast<std::size_t>(begin)]) {
      const bool runs = has_room(*inputs, costs, begin, end);
      possible += runs ? 1 : 0;
      first += runs && begin == 0 ? 1 : 0;
      const plan::ShardOperators stage = stage_operators(*ideals, begin, end);
      const bool holds_it =
          stage.before.empty() && stage.own.front().begin == 0 && stage.own.front().end >= all / 2;
      EXPECT_FALSE(runs && holds_it) << to_string(stage.own);
    }
  }
  EXPECT_GT(possible, first);
  EXPECT_GT(first, 0) << "there is room for what is less";
}

TEST(ProbeSizes, GoFromTheSmallestToTheLargest) {
  EXPECT_THAT(profile::probe_sizes(4000, 4000), ElementsAre(4000));
  EXPECT_THAT(profile::probe_sizes(4000, 100'000), ElementsAre(4000, 16000, 64000, 100'000));
  EXPECT_THAT(profile::probe_sizes(0, 10), ElementsAre(1024));
  EXPECT_EQ(profile::probe_sizes(1 << 20, std::uint64_t{1} << 40).back(),
            transport::kLargestPingBytes);
}

std::vector<model::SplitPoint> points_of(const std::vector<double>& flops) {
  std::vector<model::SplitPoint> points;
  for (const double before : flops) points.emplace_back().flops_before = before;
  return points;
}

TEST(SpreadByWork, TakesBothEndsAndEqualShares) {
  const auto points = points_of({0, 1, 2, 3, 4, 5, 50, 100});
  EXPECT_THAT(profile::spread_by_work(points, {0, 1, 2, 3, 4, 5, 6, 7}, 3), ElementsAre(0, 6, 7));
  EXPECT_THAT(profile::spread_by_work(points, {1, 2, 3, 7}, 2), ElementsAre(1, 7));
  EXPECT_THAT(profile::spread_by_work(points, {1, 2, 3}, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(profile::spread_by_work(points, {1, 2, 3}, 5), ElementsAre(1, 2, 3));
  EXPECT_THAT(profile::spread_by_work(points, {1, 2, 3}, 1), ElementsAre(2));
  EXPECT_THAT(profile::spread_by_work(points, {}, 3), IsEmpty());
  EXPECT_THAT(profile::spread_by_work(points_of({7, 7, 7}), {0, 1, 2}, 2), ElementsAre(0, 2));
}

}  // namespace
}  // namespace pareto::planning
