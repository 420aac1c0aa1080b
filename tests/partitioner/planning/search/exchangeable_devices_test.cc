#include "partitioner/planning/search/exchangeable_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/support/random_costs.h"

namespace pareto::search {
namespace {

using testing::ElementsAre;

std::vector<std::vector<int>> groups_of(const planning::CostInputs& inputs) {
  return exchangeable_devices(inputs, media_roles(inputs));
}

/// Three devices with everything that a cost may have, all alike.
planning::CostInputs three_alike() {
  planning::CostInputs inputs;
  inputs.boundary_bytes = {8, 8, 8};
  inputs.legal = {true, true, true};
  planning::DeviceCosts device;
  device.compute = {Nanoseconds(0), Nanoseconds(5), Nanoseconds(9)};
  device.overhead = Nanoseconds(1);
  device.busy = planning::StageCosts{device.compute};
  device.weight_bytes = {0, 10, 20};
  device.crossing_bytes = {8, 8, 8};
  device.memory_limit_bytes = 1000;
  device.figures["power"] = 3;
  inputs.devices.assign(3, device);
  planning::LinkCosts link;
  link.bytes_per_second = 1e9;
  link.delay = Nanoseconds(20);
  link.codecs.resize(2);
  link.codecs[1].figures = {0.5, 1, 1, 1};
  inputs.links.assign(4, std::vector<planning::LinkCosts>(4, link));
  return inputs;
}

TEST(ExchangeableDevices, WhatOneHasAloneSetsItApart) {
  const std::vector<std::pair<const char*, std::function<void(planning::DeviceCosts&)>>> changes{
      {"compute", [](planning::DeviceCosts& d) { d.compute[1] += Nanoseconds(1); }},
      {"overhead", [](planning::DeviceCosts& d) { d.overhead += Nanoseconds(1); }},
      {"enter",
       [](planning::DeviceCosts& d) {
         d.enter = {Nanoseconds(0), Nanoseconds(0), Nanoseconds(0)};
       }},
      {"whole", [](planning::DeviceCosts& d) { d.whole = Nanoseconds(10); }},
      {"busy", [](planning::DeviceCosts& d) { d.busy->compute[2] += Nanoseconds(1); }},
      {"not known busy", [](planning::DeviceCosts& d) { d.busy.reset(); }},
      {"weights", [](planning::DeviceCosts& d) { d.weight_bytes[1] = 11; }},
      {"shared weights",
       [](planning::DeviceCosts& d) {
         d.shared_weights = {{4, {0, 1, 2}}};
       }},
      {"crossing", [](planning::DeviceCosts& d) { d.crossing_bytes[1] = 9; }},
      {"early",
       [](planning::DeviceCosts& d) {
         d.early = {{}, {{4, Nanoseconds(2)}}, {}};
       }},
      {"memory", [](planning::DeviceCosts& d) { d.memory_limit_bytes = 999; }},
      {"too large",
       [](planning::DeviceCosts& d) {
         d.too_large = {{0, 2}};
       }},
      {"power", [](planning::DeviceCosts& d) { d.figures["power"] = 4; }},
      {"price", [](planning::DeviceCosts& d) { d.figures["price_per_hour"] = 1; }},
      {"may be first", [](planning::DeviceCosts& d) { d.may_be_first = false; }},
      {"may be last", [](planning::DeviceCosts& d) { d.may_be_last = false; }},
  };
  for (const auto& [what, change] : changes) {
    planning::CostInputs inputs = three_alike();
    change(inputs.devices[1]);
    EXPECT_THAT(groups_of(inputs), ElementsAre(ElementsAre(0, 2), ElementsAre(1))) << what;
    // If all have it, they are alike again.
    change(inputs.devices[0]);
    change(inputs.devices[2]);
    EXPECT_THAT(groups_of(inputs), ElementsAre(ElementsAre(0, 1, 2))) << what;
  }
}

TEST(ExchangeableDevices, WhatOnesLinksHaveSetsItApart) {
  const std::vector<std::pair<const char*, std::function<void(planning::LinkCosts&)>>> changes{
      {"usable", [](planning::LinkCosts& l) { l.usable = false; }},
      {"rate", [](planning::LinkCosts& l) { l.bytes_per_second = 2e9; }},
      {"delay", [](planning::LinkCosts& l) { l.delay = Nanoseconds(21); }},
      {"message", [](planning::LinkCosts& l) { l.message = Nanoseconds(1); }},
      {"send", [](planning::LinkCosts& l) { l.send = Nanoseconds(1); }},
      {"receive", [](planning::LinkCosts& l) { l.receive = Nanoseconds(1); }},
      {"send bytes", [](planning::LinkCosts& l) { l.send_ns_per_byte = 0.5; }},
      {"receive bytes", [](planning::LinkCosts& l) { l.receive_ns_per_byte = 0.5; }},
      {"measured",
       [](planning::LinkCosts& l) {
         l.measured = {{1, {}}, {2, {}}};
       }},
      {"a codec",
       [](planning::LinkCosts& l) {
         l.codecs[1].figures = {0.25, 1, 1, 1};
       }},
      {"one more codec", [](planning::LinkCosts& l) { l.codecs.resize(3); }},
      {"a codec's times",
       [](planning::LinkCosts& l) {
         l.codecs[1].measured = {{1, {}}, {2, {}}};
       }},
  };
  for (const auto& [what, change] : changes) {
    planning::CostInputs to_source = three_alike();
    change(to_source.links[3][2]);
    EXPECT_THAT(groups_of(to_source), ElementsAre(ElementsAre(0, 1), ElementsAre(2))) << what;
    planning::CostInputs to_sink = three_alike();
    change(to_sink.links[0][3]);
    EXPECT_THAT(groups_of(to_sink), ElementsAre(ElementsAre(0), ElementsAre(1, 2))) << what;
    // One way between two: neither may stand for the other.
    planning::CostInputs one_way = three_alike();
    change(one_way.links[0][1]);
    EXPECT_EQ(groups_of(one_way).size(), 3U) << what;
    // Both ways: the two may, and the third is another.
    planning::CostInputs both_ways = three_alike();
    change(both_ways.links[0][1]);
    change(both_ways.links[1][0]);
    EXPECT_THAT(groups_of(both_ways), ElementsAre(ElementsAre(0, 1), ElementsAre(2))) << what;
  }
}

/// Placements with the devices of a group exchanged take as long.
TEST(ExchangeableDevices, ExchangingThemChangesNoPlan) {
  std::mt19937_64 random(91);
  int exchanged = 0;
  for (int i = 0; i < 400; ++i) {
    test::RandomCosts options = test::random_options(random, 5, 6);
    options.identical = 0.6;
    const planning::CostInputs inputs = test::random_costs(options, random);
    for (const std::vector<int>& group : groups_of(inputs)) {
      for (std::size_t other = 1; other < group.size(); ++other) {
        const auto swapped = [&](int device) {
          if (device == group[0]) return group[other];
          return device == group[other] ? group[0] : device;
        };
        planning::Placement placement;
        planning::Placement mirrored;
        const int cut = 1 + static_cast<int>(random() % 2);
        const int second = static_cast<int>(random() % inputs.devices.size());
        for (const auto& [device, begin, end] :
             {std::tuple{group[0], 0, cut}, std::tuple{second, cut, inputs.positions()}}) {
          placement.stages.push_back({device, begin, end});
          mirrored.stages.push_back({swapped(device), begin, end});
        }
        const auto plan = planning::evaluate(inputs, placement);
        const auto mirror = planning::evaluate(inputs, mirrored);
        ASSERT_EQ(plan.has_value(), mirror.has_value()) << i;
        if (!plan) continue;
        ++exchanged;
        ASSERT_EQ(plan->latency, mirror->latency) << i;
        ASSERT_EQ(plan->bottleneck, mirror->bottleneck) << i;
        ASSERT_EQ(plan->values, mirror->values) << i;
      }
    }
  }
  EXPECT_GT(exchanged, 100);
}

}  // namespace
}  // namespace pareto::search
