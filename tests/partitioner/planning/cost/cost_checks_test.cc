// Costs and plans that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/cost/evaluate.h"
#include "tests/partitioner/planning/cost/two_devices.h"

namespace pareto::planning {
namespace {

using testing::HasSubstr;

TEST(Evaluate, AFigureOutOfRangeIsRefused) {
  for (const std::int64_t price : {std::int64_t{-1}, std::int64_t{10'000'000'000'000}}) {
    CostInputs inputs = two_devices();
    inputs.devices[1].figures["price_per_hour"] = price;
    const auto checked = check(inputs);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message,
                testing::AllOf(testing::HasSubstr("slow"), testing::HasSubstr("cost")));
  }
}

TEST(Evaluate, RefusesWhatIsNoPlan) {
  CostInputs inputs = two_devices();
  const auto code = [&](const Placement& placement) {
    const auto result = evaluate(inputs, placement);
    return result ? ErrorCode::kInternal : result.error().code;
  };
  using enum ErrorCode;
  EXPECT_EQ(code({}), kInvalidArgument);
  EXPECT_EQ(code({{{2, 0, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{-1, 0, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 2}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 2}, {7, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 1}, {1, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 1}, {1, 1, 2}, {0, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 3}}, {0, 1}}), kInvalidArgument);
  EXPECT_EQ(code({{}, {}, true}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 3}, {0, 0, 3}}, {}, true}), kInvalidArgument);
  inputs.legal[1] = false;
  EXPECT_EQ(code({{{0, 0, 1}, {1, 1, 3}}}), kInvalidArgument);
  inputs.devices[1].may_be_first = false;
  EXPECT_EQ(code({{{1, 0, 3}}}), kInvalidArgument);
  inputs.links[0][1].usable = false;
  EXPECT_EQ(code({{{0, 0, 2}, {1, 2, 3}}}), kUnavailable);
  inputs.devices[0].memory_limit_bytes = 1608;
  EXPECT_EQ(code({{{0, 0, 3}}}), kExhausted);
}

TEST(Evaluate, NoStageHoldsWhatADeviceHadNoRoomFor) {
  CostInputs inputs = two_devices();
  inputs.devices[0].too_large = {{1, 2}};
  for (const auto& [begin, end] : {std::pair(0, 3), {0, 2}, {1, 2}, {1, 3}}) {
    EXPECT_FALSE(has_room(inputs, inputs.devices[0], begin, end)) << begin << " to " << end;
  }
  EXPECT_TRUE(has_room(inputs, inputs.devices[0], 0, 1));
  EXPECT_TRUE(has_room(inputs, inputs.devices[0], 2, 3));
  EXPECT_TRUE(has_room(inputs, inputs.devices[1], 0, 3));
  EXPECT_TRUE(evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}}));
  const auto refused = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("fast was seen to have no room"));
}

TEST(Check, NamesWhatIsWrong) {
  const auto message = [](auto spoil) {
    CostInputs inputs = two_devices();
    spoil(inputs);
    const auto result = check(inputs);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message([](CostInputs&) {}), "");
  EXPECT_THAT(message([](CostInputs& i) { i.legal.pop_back(); }), HasSubstr("flags"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices.clear(); }), HasSubstr("no device"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[1].compute[1] = Nanoseconds(-1); }),
              HasSubstr("device slow: compute"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].weight_bytes[3] = 1; }),
              HasSubstr("device fast: weight_bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].shared_weights = {{1, {0, 2, 1, 2}}};
              }),
              HasSubstr("device fast: uses of a shared weight"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].shared_weights = {{-1, {0, 1, 1, 2}}};
              }),
              HasSubstr("device fast: a shared weight"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].too_large = {{2, 1}};
              }),
              HasSubstr("too_large"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].crossing_bytes.pop_back(); }),
              HasSubstr("crossing_bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[1].jitter = {1, 0};
              }),
              HasSubstr("device slow: jitter"));
  EXPECT_THAT(message([](CostInputs& i) { i.links.pop_back(); }), HasSubstr("rows"));
  EXPECT_THAT(message([](CostInputs& i) { i.links[0][2].media = {{0}}; }),
              HasSubstr("link from 0 to 2: medium"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0, 0}, {0}};
              }),
              HasSubstr("link from 0 to 2: medium"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0}, {0}};
              }),
              HasSubstr("each once"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0, 0.5}};
              }),
              HasSubstr("none of its media has a share of 1"));
  EXPECT_THAT(message([](CostInputs& i) { i.links[1][0].bytes_per_second = 1e-9; }),
              HasSubstr("longer than an hour"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].enter = {Nanoseconds(0)}; }),
              HasSubstr("device fast: enter"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].measured = {{8, {}}, {8, {}}};
              }),
              HasSubstr("ascend in bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.boundary_bytes[0] = std::int64_t{1} << 60;
                i.links[1][0].measured = {{0, {}}, {1, {Nanoseconds(1'000'000)}}};
              }),
              HasSubstr("longer than an hour"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"bad", {-1, 0, 0, 0}}};
              }),
              HasSubstr("codec bad"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"short", {}, {{}, {}}}};
              }),
              HasSubstr("codec short has figures of 2 positions of 4"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"odd", {}, {{}, {}, {-1, 0, 0, 0}, {}}}};
              }),
              HasSubstr("codec odd: a number"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"none", {}, {}, "shm", {{8, {}}, {8, {}}}}};
              }),
              HasSubstr("codec none: measured points have to ascend"));
}

}  // namespace
}  // namespace pareto::planning
