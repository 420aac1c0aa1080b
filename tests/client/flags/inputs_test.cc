#include "client/flags/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "client/flags/remembered_inputs.h"
#include "core/tensor/npy.h"
#include "partitioner/model/zoo/model_builder.h"
#include "tests/client/support/program.h"

namespace pareto::client {
namespace {

using model::Model;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class InputsOfPeople : public testing::Test {
 protected:
  InputsOfPeople() : folder_(TemporaryFolder::create("pareto-inputs").value()) {}

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string pictures(const std::string& name, Shape shape) const {
    Tensor tensor = Tensor::allocate(DType::kFloat32, std::move(shape)).value();
    std::memset(tensor.mutable_bytes().data(), 0, tensor.size_bytes());
    EXPECT_TRUE(write_npy(path(name), tensor));
    return path(name);
  }

  static Model open(std::vector<model::InputShape> inputs) {
    model::zoo::ModelOptions options;
    options.num_classes = 10;
    options.input = std::move(inputs);
    return model::zoo::open_model("squeezenet1_0", options).value();
  }

  std::vector<std::int64_t> batches(const Model& model, const std::vector<std::int64_t>& named) {
    Context context{.out = out_,
                    .err = err_,
                    .command_line = {},
                    .paretod = {},
                    .default_store = {},
                    .stop = stop_};
    return batches_for(context, model, named, {1, 3}).value();
  }

  const TemporaryFolder folder_;
  NeverStopped stop_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(InputsOfPeople, ABatchIsThatOfTheDataUnlessOneIsNamed) {
  const Model made_up = open(read_model_inputs("3x64x64", {}).value());
  EXPECT_THAT(batches(made_up, {}), ElementsAre(1, 3));
  EXPECT_THAT(batches(made_up, {8}), ElementsAre(8));
  EXPECT_EQ(err_.str(), "");
  const Model given = open(read_model_inputs("", {pictures("two.npy", {2, 3, 64, 64})}).value());
  EXPECT_THAT(batches(given, {}), ElementsAre(2));
  EXPECT_THAT(batches(given, {2}), ElementsAre(2));
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(batches(given, {1, 4}), ElementsAre(1, 4));
  EXPECT_EQ(err_.str(),
            "batch 1: the first of the 2 samples of --input\n"
            "batch 4: the 2 samples of --input are repeated\n");
  plan::Plan halves;
  halves.batch = 2;
  halves.settings.schedule = plan::kOverlapSchedule;
  EXPECT_TRUE(check_cut(given, halves));
  EXPECT_EQ(only_batch_notice(given), "");
  EXPECT_EQ(emptied_notice(given), "");
}

TEST_F(InputsOfPeople, ARequestIsCheckedAgainstTheModel) {
  const Model model = open(read_model_inputs("3x64x64", {}).value());
  const auto request = read_request(model, {pictures("three.npy", {3, 3, 64, 64})});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->batch, 3);
  const auto small = read_request(model, {pictures("small.npy", {1, 3, 32, 64})});
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message,
              AllOf(HasSubstr("small.npy"), HasSubstr("1x3x32x64"), HasSubstr("Bx3x64x64")));
  EXPECT_FALSE(read_request(model, {pictures("none.npy", {0, 3, 64, 64})}));
  EXPECT_FALSE(read_request(model, {path("three.npy"), path("three.npy")})) << "one too many";
}

TEST_F(InputsOfPeople, ErrorsNameTheFlag) {
  EXPECT_THAT(read_model_inputs("3xfour", {}).error().message, HasSubstr("--input-shape"));
  EXPECT_THAT(read_model_inputs("", {path("absent.npy")}).error().message,
              AllOf(HasSubstr("--input"), HasSubstr("absent.npy")));
  const auto two = read_model_inputs("3;4", {pictures("one.npy", {1, 3})});
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("1 file and 2 shapes"));
}

TEST_F(InputsOfPeople, WhatAModelNeedsIsKeptByItsContent) {
  std::ofstream(path("model.pt")) << "one model";
  const Digest digest = digest_of_file(path("model.pt")).value();
  EXPECT_EQ(digest, sha256("one model"));
  EXPECT_EQ(digest_of_file(path("absent.pt")).error().code, ErrorCode::kNotFound);
  const InputMemory memory(path("kept"));
  EXPECT_EQ(memory.recall(digest), std::nullopt);
  const RememberedInputs inputs{"7:int64=1..39", {"/data/tokens.npy"}, 8, {"/lib/nms.so"}};
  ASSERT_TRUE(memory.remember(digest, inputs));
  EXPECT_EQ(memory.recall(digest), inputs);
  EXPECT_EQ(memory.recall(sha256("another model")), std::nullopt);
  for (const char* text : {"", "no JSON", "[]", "{\"inputs\": 7}"}) {
    std::ofstream(path("kept/" + digest.hex() + ".json")) << text;
    EXPECT_EQ(memory.recall(digest), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace pareto::client
