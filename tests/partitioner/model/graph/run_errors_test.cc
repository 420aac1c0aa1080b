#include "partitioner/model/graph/run_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<InputShape> shapes_of(const std::string& text) {
  return parse_input_shapes(text).value();
}
std::string why(const std::string& message, const std::string& shapes) {
  return why_not_run(std::runtime_error(message), shapes_of(shapes));
}

TEST(InputNames, AreThoseOfTheCode) {
  torch::jit::Graph graph;
  const auto named = [&](const std::string& name) { return input_name(graph.addInput(name)); };
  EXPECT_EQ(named("x"), "x");
  EXPECT_EQ(named("x.1"), "x");
  EXPECT_EQ(named("mask.12"), "mask");
  EXPECT_EQ(named("x1"), "x1");
  EXPECT_EQ(named("a.b"), "a.b");
}

TEST(InputNames, LeaveWeightsOut) {
  const auto model = test::open(test::scripted("Two", R"(
def forward(self, pixels, mask):
    return torch.relu(pixels) * mask
)"),
                                "4;4");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(input_names(model->flat()), ElementsAre("pixels", "mask"));
}

TEST(DescribeExamples, NamesSeveralInputsAndTheirWholeSizes) {
  EXPECT_EQ(describe_examples(shapes_of("3x224x224"), {"x"}, 2), "float32[2x3x224x224]");
  EXPECT_THAT(describe_examples(shapes_of("4;7:int64=1..39"), {"x", "ids"}, 1),
              AllOf(HasSubstr("x = float32[1x4] and ids = int64[1x7]"), Not(HasSubstr("zeros"))));
}

TEST(DescribeExamples, SaysThatMadeUpNumbersAreZeros) {
  EXPECT_THAT(describe_examples(shapes_of("7:int64"), {"ids"}, 1),
              AllOf(HasSubstr("example integers are zeros"), HasSubstr("--input FILE.npy")));
}

TEST(BatchInError, IsTheConstantThatTheSizesFitTo) {
  EXPECT_EQ(batch_in_error("shape '[2, 12]' is invalid for input of size 36", 3), 2);
  EXPECT_EQ(batch_in_error("x: shape '[10, 6]' is invalid for input of size 24", 2), 5);
  EXPECT_EQ(batch_in_error("The size of tensor a (3) must match the size of tensor b (8) at "
                           "non-singleton dimension 0",
                           3),
            8);
  EXPECT_EQ(batch_in_error("The size of tensor a (8) must match the size of tensor b (6)", 3), 4);
}

TEST(BatchInError, IsNoneIfTheyDoNotSay) {
  EXPECT_FALSE(batch_in_error("shape '[2, -1]' is invalid for input of size 36", 3));
  EXPECT_FALSE(batch_in_error("shape '[2, 7]' is invalid for input of size 36", 3));
  EXPECT_FALSE(batch_in_error("shape '[3, 12]' is invalid for input of size 36", 3)) << "it ran";
  EXPECT_FALSE(batch_in_error("The size of tensor a (7) must match the size of tensor b (5)", 3));
  EXPECT_FALSE(batch_in_error("shape '[0, 12]' is invalid for input of size 36", 3));
  EXPECT_FALSE(batch_in_error(
      "shape '[99999999999, 99999999999, 99999999999]' is invalid for input of size 36", 3));
  EXPECT_FALSE(batch_in_error("out of memory", 3));
}

TEST(WhyNotRun, ProposesWhatFitsTheError) {
  EXPECT_THAT(why("Expected tensor for argument #1 'indices' to have one of the following "
                  "scalar types: Long, Int; but got torch.FloatTensor",
                  "12"),
              HasSubstr("(an input of whole numbers is needed, as in --input-shape 12:int64)"));
  EXPECT_THAT(why("index out of range in self", "12:int64=0..30000"),
              HasSubstr("smaller range, as in --input-shape 12:int64=0..3000)"));
  EXPECT_THAT(why("size mismatch", "1x3x8x8"),
              HasSubstr("if the first 1 is the batch, leave it out: --input-shape 3x8x8)"));
}

TEST(WhyNotRun, ProposesNothingThatDoesNotFit) {
  EXPECT_EQ(why("index out of range in self", "12"), "index out of range in self");
  EXPECT_EQ(why("size mismatch", "3x8x8"), "size mismatch");
  EXPECT_EQ(why("scalar types: Long, Int", "12:int64"), "scalar types: Long, Int");
}

TEST(WhyNotRun, SaysHalfPrecisionIsNotForProcessors) {
  EXPECT_THAT(why("\"slow_conv2d_cpu\" not implemented for 'Half'", "3x8x8"),
              AllOf(HasSubstr("half precision"), HasSubstr("float()")));
}

TEST(WhyNotRun, KeepsTheFirstLineAlone) {
  EXPECT_EQ(why("no such thing\nframe #0: somewhere", "4"), "no such thing");
}

}  // namespace
}  // namespace pareto::model
