#include "runtime/execution/joined_value.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

/// Fills the rows of each part, as parts do that make them in place.
void place_rows(JoinedValue& value, const std::vector<at::Tensor>& pieces) {
  std::int64_t row = 0;
  for (std::size_t part = 0; part < pieces.size(); ++part) {
    value.whole.narrow(0, row, pieces[part].size(0)).copy_(pieces[part]);
    row += pieces[part].size(0);
    value.placed[part] = 1;
  }
}

std::vector<c10::IValue> as_values(const std::vector<at::Tensor>& pieces) {
  return {pieces.begin(), pieces.end()};
}

TEST(JoinedValue, PutsPiecesTogetherAndThenFindsThemInPlace) {
  for (const auto type : {at::kFloat, at::kLong, at::kBFloat16, at::kBool}) {
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      std::vector<at::Tensor> pieces;
      for (const std::int64_t rows : {3, 2, 0, 1}) {
        pieces.push_back(at::randint(2, {rows, 4, 3, 5}).to(type).contiguous(format));
      }
      const at::Tensor expected = at::cat(pieces, 0);
      JoinedValue value(pieces.size());
      const at::Tensor first = value.put_together(as_values(pieces));
      EXPECT_TRUE(first.equal(expected));
      value.renew();
      ASSERT_TRUE(value.whole.defined());
      EXPECT_EQ(value.whole.strides(), first.strides());
      EXPECT_EQ(value.whole.scalar_type(), type);
      place_rows(value, pieces);
      const at::Tensor second = value.put_together({});
      EXPECT_TRUE(second.is_same(value.whole)) << "nothing is copied";
      EXPECT_TRUE(second.equal(expected));
      EXPECT_FALSE(second.is_alias_of(first));
    }
  }
}

TEST(JoinedValue, OnePartThatIsElsewhereMeansACopy) {
  const std::vector<at::Tensor> pieces{at::ones({2, 2}), at::zeros({1, 2})};
  JoinedValue value(2);
  value.put_together(as_values(pieces));
  value.renew();
  place_rows(value, pieces);
  value.placed[1] = 0;
  EXPECT_FALSE(value.is_placed());
  const at::Tensor copy = value.put_together(as_values(pieces));
  EXPECT_FALSE(copy.is_alias_of(value.whole));
  EXPECT_TRUE(copy.equal(at::cat(pieces)));
}

TEST(JoinedValue, EachRunHasItsOwnMemory) {
  const std::vector<at::Tensor> pieces{at::ones({2}), at::ones({2})};
  JoinedValue value(2);
  value.put_together(as_values(pieces));
  value.renew();
  place_rows(value, pieces);
  const at::Tensor given = value.put_together({});
  value.renew();
  EXPECT_FALSE(value.is_placed());
  place_rows(value, {at::zeros({2}), at::zeros({2})});
  EXPECT_TRUE(given.equal(at::ones({4}))) << "a result that was given is not written again";
}

TEST(JoinedValue, HasNoMemoryBeforeItsFormIsKnown) {
  JoinedValue value(3);
  value.renew();
  EXPECT_FALSE(value.whole.defined());
  EXPECT_FALSE(value.is_placed());
  EXPECT_EQ(value.places.size(), 3U);
}

TEST(JoinedValue, AnotherBatchHasAnotherForm) {
  JoinedValue value(2);
  value.put_together(as_values({at::ones({2, 3}), at::ones({2, 3})}));
  value.put_together(as_values({at::ones({1, 3}), at::ones({1, 3})}));
  value.renew();
  EXPECT_EQ(value.whole.sizes(), (std::vector<std::int64_t>{2, 3}));
}

TEST(JoinedValue, PiecesThatDoNotFitAreRefused) {
  JoinedValue value(2);
  EXPECT_ANY_THROW(value.put_together(as_values({at::ones({2, 3}), at::ones({2, 4})})));
  EXPECT_ANY_THROW(value.put_together({at::ones({2}), std::int64_t{3}}));
  EXPECT_ANY_THROW(value.put_together(as_values({at::ones({}), at::ones({})})));
}

}  // namespace
}  // namespace pareto::runtime
