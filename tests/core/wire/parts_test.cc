#include "core/wire/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::wire {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kPipeline = 5;

Message part(std::uint32_t sequence, std::size_t position, const char* value,
             std::uint64_t request = 7) {
  return part_message(kPipeline, request, sequence, position, value);
}

Message closing(std::uint32_t sequence, Value body, std::uint64_t request = 7) {
  Message message;
  message.pipeline = kPipeline;
  message.request = request;
  message.sequence = sequence;
  message.body = std::move(body);
  return message;
}

TEST(PartAssembler, PutsPartsWhereTheyBelong) {
  PartAssembler assembler(3);
  for (std::uint64_t request = 0; request < 2; ++request) {
    ASSERT_TRUE(assembler.keep(part(0, 2, "c", request)));
    ASSERT_TRUE(assembler.keep(part(1, 0, "a", request)));
    Message message = closing(2, Tuple{{None{}, "b", None{}}}, request);
    ASSERT_TRUE(assembler.complete(message));
    EXPECT_TRUE(bit_equal(message.body, Tuple{{"a", "b", "c"}}));
    EXPECT_EQ(message.sequence, 0U);
  }
}

TEST(PartAssembler, ARequestWithoutPartsStaysAsItIs) {
  PartAssembler assembler(3);
  Message message = closing(0, "no tuple");
  ASSERT_TRUE(assembler.complete(message));
  EXPECT_TRUE(bit_equal(message.body, "no tuple"));
}

TEST(PartAssembler, AnErrorDropsTheParts) {
  PartAssembler assembler(3);
  ASSERT_TRUE(assembler.keep(part(0, 2, "c")));
  Message error = closing(0, Tuple{{"exhausted", "no memory"}});
  error.kind = MessageKind::kError;
  ASSERT_TRUE(assembler.complete(error));
  EXPECT_TRUE(assembler.keep(part(0, 2, "c", 8)));
}

TEST(PartAssembler, RefusesPartsThatDoNotFit) {
  const auto refusal = [](Message second) {
    PartAssembler assembler(3);
    EXPECT_TRUE(assembler.keep(part(0, 1, "b")));
    const auto kept = assembler.keep(std::move(second));
    EXPECT_FALSE(kept);
    return kept ? Error{} : kept.error();
  };
  EXPECT_EQ(refusal(part(1, 1, "b")).code, ErrorCode::kCorrupt);
  EXPECT_THAT(refusal(part(2, 2, "c")).message, HasSubstr("part 2 of request 7"));
  EXPECT_THAT(refusal(part(1, 2, "c", 8)).message, HasSubstr("came after 1 of request 7"));
  EXPECT_THAT(refusal(part(1, 3, "d")).message, HasSubstr("value 3 of 3"));
  Message negative = part(1, 0, "a");
  negative.body = Tuple{{std::int64_t{-1}, "a"}};
  EXPECT_THAT(refusal(std::move(negative)).message, HasSubstr("value -1 of 3"));
  Message shapeless = part(1, 0, "a");
  shapeless.body = "a";
  EXPECT_THAT(refusal(std::move(shapeless)).message, HasSubstr("not a position and a value"));
  EXPECT_EQ(refusal(closing(1, Tuple{{std::int64_t{0}, "a"}})).code, ErrorCode::kCorrupt);
}

TEST(PartAssembler, RefusesAnEndThatDoesNotFit) {
  const auto refusal = [](Message end) {
    PartAssembler assembler(3);
    EXPECT_TRUE(assembler.keep(part(0, 1, "b")));
    const auto completed = assembler.complete(end);
    EXPECT_FALSE(completed);
    return completed ? std::string() : completed.error().message;
  };
  EXPECT_THAT(refusal(closing(2, Tuple{{"a", None{}, "c"}})), HasSubstr("has 2 parts"));
  EXPECT_THAT(refusal(closing(1, Tuple{{"a", None{}, "c"}}, 8)), HasSubstr("of request 7 came"));
  EXPECT_THAT(refusal(closing(1, Tuple{{"a", "b", "c"}})), HasSubstr("no room for its value 1"));
  EXPECT_THAT(refusal(closing(1, Tuple{{"a"}})), HasSubstr("no room"));
  EXPECT_THAT(refusal(closing(1, "a")), HasSubstr("no room"));
}

}  // namespace
}  // namespace pareto::wire
