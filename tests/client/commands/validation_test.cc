#include "client/commands/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::client::commands {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(BatchRange, HasASmallestAndALargest) {
  EXPECT_FALSE(parse_batch_range("").value());
  EXPECT_EQ(parse_batch_range("1:64").value()->most, 64);
  EXPECT_EQ(parse_batch_range("4:4").value()->least, 4);
  for (const char* text : {"64", "8:1", "0:3", "1:x", "1:2:3", ":"}) {
    const auto range = parse_batch_range(text);
    ASSERT_FALSE(range) << text;
    EXPECT_THAT(range.error().message, HasSubstr("--batch-range")) << text;
  }
}

TEST(ValidatedBatches, AreTheGivenOneAnotherOneAndTheLargest) {
  const model::Model model = test::small_model();
  EXPECT_THAT(validated_batches(model, 1, std::nullopt), ElementsAre(1, 2));
  EXPECT_THAT(validated_batches(model, 8, std::nullopt), ElementsAre(1, 8));
  EXPECT_THAT(validated_batches(model, 8, BatchRange{2, 64}), ElementsAre(2, 8, 64));
  EXPECT_THAT(validated_batches(model, 2, BatchRange{2, 3}), ElementsAre(2, 3));
}

TEST(ValidationMemory, KeepsBatchesByModelAndOperators) {
  const auto folder = TemporaryFolder::create("validated");
  ASSERT_TRUE(folder);
  const ValidationMemory memory(folder->path() / "validated");
  const Digest one = sha256(std::string_view("one"));
  const Digest two = sha256(std::string_view("two"));
  const model::Cut cut{"after:left+right", {{0, 5}, {7, 9}}};
  EXPECT_THAT(memory.recall(one, cut), IsEmpty());
  ASSERT_TRUE(memory.remember(one, cut, {1, 64}));
  ASSERT_TRUE(memory.remember(one, {"op:3", {{0, 3}}}, {2}));
  EXPECT_THAT(memory.recall(one, {"op:5:7-9", {{0, 5}, {7, 9}}}), ElementsAre(1, 64))
      << "whatever it is called";
  EXPECT_THAT(memory.recall(one, {"op:3", {{0, 3}}}), ElementsAre(2));
  EXPECT_THAT(memory.recall(two, cut), IsEmpty());
  // In training they are equal at batches of their own.
  EXPECT_THAT(memory.recall(one, cut, true), IsEmpty());
  ASSERT_TRUE(memory.remember(one, cut, {2}, true));
  EXPECT_THAT(memory.recall(one, cut, true), ElementsAre(2));
  EXPECT_THAT(memory.recall(one, cut), ElementsAre(1, 64));
  ASSERT_TRUE(write_file_atomically(folder->path() / "validated" / (one.hex() + ".json"), "{]"));
  EXPECT_THAT(memory.recall(one, cut), IsEmpty()) << "what cannot be read is done again";
}

}  // namespace
}  // namespace pareto::client::commands
