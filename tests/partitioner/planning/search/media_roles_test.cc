#include "partitioner/planning/search/media_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/search/exchangeable_devices.h"

namespace pareto::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Of = MediumRole::Of;

/// Returns three devices that are alike, and usable links between all.
planning::CostInputs three_devices() {
  planning::CostInputs inputs;
  inputs.boundary_bytes = {8, 8, 8};
  inputs.legal = {true, true, true};
  inputs.devices.resize(3);
  for (planning::DeviceCosts& device : inputs.devices) {
    device.compute = {Nanoseconds(0), Nanoseconds(1), Nanoseconds(2)};
  }
  inputs.links.assign(4, std::vector<planning::LinkCosts>(4));
  return inputs;
}

/// One more medium, of all links of some devices.
void add_medium(const std::vector<std::size_t>& devices, planning::CostInputs& inputs,
                double share = 1) {
  const int medium = inputs.media++;
  for (std::size_t from = 0; from < inputs.links.size(); ++from) {
    for (std::size_t to = 0; to < inputs.links.size(); ++to) {
      const bool passes = std::ranges::find(devices, from) != devices.end() ||
                          std::ranges::find(devices, to) != devices.end();
      if (passes && from != to) inputs.links[from][to].media.push_back({medium, share});
    }
  }
}

TEST(MediaRoles, AMediumOfOneDeviceIsItsSendersOrReceivers) {
  planning::CostInputs inputs = three_devices();
  add_medium({0, 1}, inputs);
  add_medium({2}, inputs, 0.5);
  add_medium({0}, inputs);
  const MediaRoles roles = media_roles(inputs);
  EXPECT_EQ(roles.of_several, 1);
  EXPECT_TRUE(roles.any_own);
  EXPECT_THAT(roles.link(2, 3), ElementsAre(MediumRole{Of::kSender, 0, 0.5}));
  EXPECT_THAT(roles.link(3, 1), ElementsAre(MediumRole{Of::kSeveral, 0, 1}));
  EXPECT_THAT(roles.link(2, 0),
              ElementsAre(MediumRole{Of::kSender, 0, 0.5}, MediumRole{Of::kReceiver, 0, 1},
                          MediumRole{Of::kSeveral, 0, 1}));
}

TEST(MediaRoles, WhatADeviceOnlySendsOrOnlyReceivesByIsNoSum) {
  planning::CostInputs inputs = three_devices();
  inputs.media = 2;
  inputs.links[0][1].media = inputs.links[0][3].media = {{0}};
  inputs.links[3][0].media = inputs.links[2][0].media = {{1}};
  const MediaRoles roles = media_roles(inputs);
  EXPECT_EQ(roles.of_several, 0);
  EXPECT_FALSE(roles.any_own);
  EXPECT_THAT(roles.link(0, 1), IsEmpty());
  // Neither are links that cannot be used.
  inputs.links[1][0].media = {{0}};
  inputs.links[1][0].usable = false;
  EXPECT_FALSE(media_roles(inputs).any_own);
  inputs.links[1][0].usable = true;
  EXPECT_TRUE(media_roles(inputs).any_own);
}

TEST(MediaRoles, OfTwoMediaOfOneDeviceTheSecondHasASumOfItsOwn) {
  planning::CostInputs inputs = three_devices();
  add_medium({0}, inputs);
  add_medium({0}, inputs);
  const MediaRoles roles = media_roles(inputs);
  EXPECT_TRUE(roles.any_own);
  EXPECT_EQ(roles.of_several, 1);
}

TEST(ExchangeableDevices, EachWithAMediumOfItsOwn) {
  planning::CostInputs inputs = three_devices();
  const auto groups = [&] { return exchangeable_devices(inputs, media_roles(inputs)); };
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(0, 1, 2)));
  for (std::size_t device = 0; device < 3; ++device) add_medium({device}, inputs);
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(0, 1, 2)));
  // Another that two of them share.
  add_medium({0, 2}, inputs);
  EXPECT_THAT(groups(), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

}  // namespace
}  // namespace pareto::search
