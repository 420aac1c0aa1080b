#include "client/commands/verify_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::client::commands {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

model::Cut before(plan::OperatorRanges ranges) { return {"", std::move(ranges)}; }

TEST(ChainsOfCuts, HaveEachCutBehindTheOneBeforeIt) {
  // Two branches behind operator 0: 1 and 2 here, 3 and 4 there.
  const std::vector<model::Cut> cuts{before({{0, 1}}),         before({{0, 2}}),
                                     before({{0, 1}, {3, 4}}), before({{0, 3}}),
                                     before({{0, 2}, {3, 4}}), before({{0, 1}, {3, 5}}),
                                     before({{0, 5}})};
  EXPECT_THAT(chains_of(cuts),
              ElementsAre(ElementsAre(0, 1, 3, 6), ElementsAre(2, 4), ElementsAre(5)));
  EXPECT_THAT(chains_of({}), IsEmpty());
}

TEST(ChainsOfCuts, PositionsAreOne) {
  std::vector<model::Cut> cuts;
  for (std::int64_t at = 1; at <= 5; ++at) cuts.push_back(before({{0, at}}));
  EXPECT_THAT(chains_of(cuts), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
}

}  // namespace
}  // namespace pareto::client::commands
