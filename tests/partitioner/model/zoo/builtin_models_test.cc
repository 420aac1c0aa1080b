// What holds of every built-in model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partitioner/model/zoo/model_builder.h"

namespace pareto::model::zoo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Opened with pictures that all of them take.
Expected<Model> open(const std::string& name, const ModelOptions& options) {
  ModelOptions small = options;
  if (!small.input) small.input = {{{3, 96, 96}, DType::kFloat32}};
  return open_model(name, small);
}

std::vector<std::string> small_names() {
  std::vector<std::string> names;
  for (const auto& builder : builtin_models()) {
    // Hundreds of megabytes of weights: looked at in chains_test.cc and vit_test.cc.
    if (builder->name() != "vgg16" && builder->name() != "alexnet" &&
        builder->name() != "vit_b_16") {
      names.emplace_back(builder->name());
    }
  }
  return names;
}

class EachModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EachModel, testing::ValuesIn(small_names()),
                         [](const auto& each) { return each.param; });

TEST_P(EachModel, ScoresAsManyClassesAsItIsAskedFor) {
  for (const std::int64_t classes : {1}) {
    ModelOptions options;
    options.num_classes = classes;
    const auto model = open(GetParam(), options);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->name(), GetParam());
    const Graph& graph = model->graph();
    ASSERT_EQ(graph.outputs.size(), 1U);
    const auto& dims = graph.values[static_cast<std::size_t>(graph.outputs[0])].spec.tensor.dims;
    ASSERT_GE(dims.size(), 2U);
    EXPECT_EQ(dims[0].per_sample, 1);
    // Scores stand behind the four numbers of a box.
    EXPECT_EQ(dims[1].constant, classes + (GetParam() == "yolov8n" ? 4 : 0));
    EXPECT_FALSE(model->only_batch());
    EXPECT_FALSE(draws_random_numbers(graph));
  }
}

TEST_P(EachModel, IsAnotherOfAnotherSeed) {
  ModelOptions options;
  options.num_classes = 3;
  const auto one = open(GetParam(), options);
  options.seed = 1;
  const auto other = open(GetParam(), options);
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->digest(), other->digest());
}

TEST_P(EachModel, MayBeCutAlmostEverywhere) {
  const auto model = open(GetParam(), {});
  ASSERT_TRUE(model) << model.error().message;
  std::set<std::string> names;
  std::size_t legal = 0;
  for (const SplitPoint& point : model->split_points()) {
    names.insert(point.name);
    legal += point.legal ? 1 : 0;
  }
  EXPECT_EQ(names.size(), model->split_points().size()) << "each has a name of its own";
  EXPECT_GT(legal, model->split_points().size() / 3);
}

TEST_P(EachModel, RefusesPicturesOfOtherChannels) {
  for (const std::int64_t channels : {4}) {
    ModelOptions options;
    options.input = {{{channels, 96, 96}, DType::kFloat32}};
    const auto model = open_model(GetParam(), options);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(model.error().message,
                AllOf(HasSubstr(GetParam() + " takes pictures of three channels"),
                      HasSubstr("not 4x96x96")));
  }
}

TEST(BuiltinModels, RefuseInputsThatAreNoPictures) {
  for (const std::vector<InputShape>& inputs :
       {std::vector<InputShape>{{{96}, DType::kFloat32}},
        std::vector<InputShape>{{{3, 96, 96}, DType::kFloat32}, {{3, 96, 96}, DType::kFloat32}}}) {
    ModelOptions options;
    options.input = inputs;
    for (const auto& builder : builtin_models()) {
      const auto model = open_model(std::string(builder->name()), options);
      ASSERT_FALSE(model) << builder->name();
      EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
    }
  }
}

TEST(BuiltinModels, HaveNamesAndPapersAndTheSizesOfThose) {
  std::set<std::string_view> names;
  const auto models = builtin_models();
  for (const auto& builder : models) {
    names.insert(builder->name());
    EXPECT_THAT(std::string(builder->reference()), HasSubstr(", 20")) << builder->name();
    const InputShape input = builder->default_input();
    ASSERT_EQ(input.per_sample.size(), 3U) << builder->name();
    EXPECT_EQ(input.per_sample[0], 3);
    EXPECT_EQ(input.per_sample[1], builder->name() == "inceptionv3" ? 299
                                   : builder->name() == "yolov8n"   ? 640
                                                                    : 224);
    EXPECT_EQ(builder->default_classes(), default_classes(builder->name()));
    EXPECT_EQ(input.dtype, DType::kFloat32);
  }
  EXPECT_EQ(names.size(), models.size());
}

TEST(BuiltinModels, HaveTheClassesOfTheirPublishedWeights) {
  EXPECT_EQ(default_classes("resnet18"), 1000);
  EXPECT_EQ(default_classes("deeplabv3_resnet50"), 21);
  EXPECT_EQ(default_classes("yolov8n"), 80);
  EXPECT_EQ(default_classes("some.pt"), 1000);
  ModelOptions options;
  options.input = {{{3, 32, 32}, DType::kFloat32}};
  const auto model = open_model("yolov8n", options);
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph();
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].spec.tensor.dims[1].constant,
            84);
}

TEST(BuiltinModels, ClassesHaveToBeSomeAndNotTooMany) {
  for (const std::int64_t classes : {-1, 0, 1'000'001}) {
    ModelOptions options;
    options.num_classes = classes;
    const auto model = open("squeezenet1_0", options);
    ASSERT_FALSE(model) << classes;
    EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(model.error().message, HasSubstr("classes: 1 to 1000000 are possible"));
  }
}

}  // namespace
}  // namespace pareto::model::zoo
