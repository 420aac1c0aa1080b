// Shards as modules: where their weights lie, and manifests that do not fit their archive.
#include "runtime/shard_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using testing::ElementsAre;
using testing::HasSubstr;

WeightSource source_of(HandMadeShard& shard) {
  return [&shard](const Digest& digest) -> Expected<Tensor> {
    const auto found = shard.store().find(digest);
    if (found == shard.store().end()) return fail(ErrorCode::kNotFound, "no such tensor");
    return found->second;
  };
}

Expected<torch::jit::Module> as_module(HandMadeShard& shard,
                                       WrittenWeights written = WrittenWeights::kCopied) {
  return load_module(shard.shard(), source_of(shard), c10::kCPU, written);
}

/// Takes three numbers, and has a weight of three.
HandMadeShard scaling(const std::string& body = "    return (torch.relu(x * self.w) + 1,)\n") {
  HandMadeShard shard;
  shard.weight("w", torch::tensor({1.F, 2.F, 3.F}))
      .input("x", from_torch(torch::ones({3})).value())
      .code("def run(self, x):\n" + body);
  shard.shard().end = 3;
  return shard;
}

Error refusal_of_module(HandMadeShard& shard) {
  const auto module = as_module(shard);
  return module ? Error{ErrorCode::kInternal, "it was loaded"} : module.error();
}

TEST(LoadModule, WeightsLieWhereTheirSourceHasThem) {
  HandMadeShard shard = scaling();
  const auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  const at::Tensor weight = module->attr("w").toTensor();
  EXPECT_EQ(weight.data_ptr(), shard.store().begin()->second.bytes().data());
  EXPECT_TRUE(weight.equal(torch::tensor({1.F, 2.F, 3.F})));
  EXPECT_FALSE(module->is_training());
}

TEST(LoadModule, OperatorsHaveTheirModulePaths) {
  HandMadeShard shard = scaling();
  shard.shard().scopes = {"scale", "act"};
  auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  const auto graph = module->get_method("run").graph();
  const auto nodes = operator_nodes(*module, *graph, shard.shard());
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0]->scopeName(), "scale");
  EXPECT_EQ(nodes[1]->scopeName(), "act");
  EXPECT_EQ(nodes[2]->scopeName(), "") << "there are fewer paths than operators";
}

TEST(LoadModule, OperatorsAreThoseOfTheModelOnly) {
  HandMadeShard shard = scaling();
  const auto kinds = [&](std::int64_t end) {
    shard.shard().end = end;
    auto module = as_module(shard);
    std::vector<std::string> list;
    const auto graph = module->get_method("run").graph();
    for (const auto* node : operator_nodes(*module, *graph, shard.shard())) {
      list.emplace_back(node->kind().toQualString());
    }
    return list;
  };
  EXPECT_THAT(kinds(3), ElementsAre("aten::mul", "aten::relu", "aten::add"));
  EXPECT_THAT(kinds(2), ElementsAre("aten::mul", "aten::relu")) << "what lays out results is none";
  EXPECT_THAT(kinds(100), ElementsAre("aten::mul", "aten::relu", "aten::add"));
  EXPECT_TRUE(kinds(0).empty());
}

TEST(LoadModule, AWrittenWeightIsTheSameInEveryRun) {
  const std::string body = "    self.w.add_(x)\n    return (self.w * 1,)\n";
  HandMadeShard shard = scaling(body);
  auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  for (int run = 0; run < 2; ++run) {
    const auto result = module->get_method("run")({torch::ones({3})});
    EXPECT_TRUE(result.toTupleRef().elements()[0].toTensor().equal(torch::tensor({2.F, 3.F, 4.F})));
  }
  EXPECT_TRUE(to_torch(shard.store().begin()->second).equal(torch::tensor({1.F, 2.F, 3.F})));
  EXPECT_GT(module->attr("prologue").toInt(), 0) << "copies are no operators of the model";
  auto written = as_module(shard, WrittenWeights::kWritten);
  ASSERT_TRUE(written);
  EXPECT_FALSE(written->hasattr("prologue"));
}

TEST(LoadModule, FunctionsThatWriteGetWeightsOfTheirOwn) {
  for (const char* const code : {
           "def spoil(self, t):\n    return t.fill_(7)\n"
           "def run(self, x):\n    return (self.spoil(self.w) * x,)\n",
           "def hand_on(self):\n    return self.w\n"
           "def run(self, x):\n    return (self.hand_on().fill_(7) * x,)\n",
           "def train(self, x):\n"
           "    return torch.batch_norm(x, None, None, self.w, self.w, True, 0.5, 1e-5, False)\n"
           "def run(self, x):\n"
           "    return (self.train(torch.stack([x, x + 1])) * 0 + self.w,)\n",
           "def run(self, x):\n    [self][0].w.fill_(7)\n    return (self.w * x,)\n",
           "def run(self, x):\n    (self, x)[0].w.fill_(7)\n    return (self.w * x,)\n",
           "def run(self, x):\n    s = self\n    for i in range(2):\n        s = [s][0]\n"
           "    s.w.fill_(7)\n    return (self.w * x,)\n",
           "def run(self, x):\n    l = [x]\n    l.append(self.w)\n    l[1].fill_(7)\n"
           "    return (self.w * x,)\n",
           "def run(self, x):\n    y = torch.dropout(self.w, 0.5, False).fill_(7)\n"
           "    return (self.w * x + y * 0,)\n",
           "def run(self, x):\n"
           "    y = torch._batch_norm_impl_index(torch.stack([x, x + 1]), None, None, self.w,\n"
           "                                     self.w, True, 0.5, 1e-5, False)\n"
           "    return (y[0] * 0 + self.w,)\n",
           "def run(self, x):\n"
           "    y = torch.batch_norm(torch.stack([x, x + 1]), None, None, self.w[:], self.w[:],\n"
           "                         True, 0.5, 1e-5, False)\n"
           "    return (y * 0 + self.w,)\n",
       }) {
    HandMadeShard shard;
    shard.weight("w", torch::tensor({1.F, 2.F, 3.F}))
        .input("x", from_torch(torch::ones({3})).value())
        .code(code);
    auto module = as_module(shard);
    ASSERT_TRUE(module) << module.error().message;
    const auto result = module->get_method("run")({torch::ones({3})});
    EXPECT_FALSE(result.toTupleRef().elements()[0].toTensor().equal(torch::tensor({1.F, 2.F, 3.F})))
        << "it did write: " << code;
    EXPECT_TRUE(to_torch(shard.store().begin()->second).equal(torch::tensor({1.F, 2.F, 3.F})))
        << "other shards have the same weight: " << code;
  }
}

TEST(LoadModule, FunctionsThatWriteNothingShareTheirWeights) {
  HandMadeShard shard;
  shard.weight("w", torch::tensor({1.F, 2.F, 3.F}))
      .input("x", from_torch(torch::ones({3})).value())
      .code(
          "def scale(self, x):\n    return x * self.w\n"
          "def run(self, x):\n    return (self.scale(x),)\n");
  const auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->attr("w").toTensor().data_ptr(), shard.store().begin()->second.bytes().data());
}

TEST(LoadModule, WritesToWhatIsNoWeightLeaveThemShared) {
  HandMadeShard shard = scaling(
      "    y = torch.mul(x, self.w)\n    y.add_(self.w)\n    y = torch.dropout(y, 0.5, False)\n"
      "    y.relu_()\n    return (y,)\n");
  const auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->attr("w").toTensor().data_ptr(), shard.store().begin()->second.bytes().data());
}

TEST(LoadModule, AWeightIsATensorOfTheArchive) {
  HandMadeShard shard = scaling();
  shard.shard().weights[0].name = "training";
  EXPECT_THAT(refusal_of_module(shard).message, HasSubstr("no weight w"));
  shard = scaling();
  shard.shard().weights.push_back(shard.shard().weights[0]);
  shard.shard().weights[1].name = "training";
  EXPECT_THAT(refusal_of_module(shard).message,
              HasSubstr("the archive's attribute training is no tensor"));
}

TEST(LoadModule, AWeightThatIsMissingIsNamed) {
  HandMadeShard shard = scaling();
  shard.store().clear();
  const Error refused = refusal_of_module(shard);
  EXPECT_EQ(refused.code, ErrorCode::kNotFound);
  EXPECT_THAT(refused.message, HasSubstr("weight w"));
}

TEST(LoadModule, AWeightOfAnotherSizeIsRefused) {
  for (const Shape& shape : {Shape{4}, Shape{2}, Shape{3, 2}, Shape{0}}) {
    HandMadeShard shard = scaling();
    shard.shard().weights[0].shape = shape;
    const Error refused = refusal_of_module(shard);
    EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.message, HasSubstr("weight w: 12 bytes, not the "));
  }
  HandMadeShard shard = scaling();
  shard.shard().weights[0].dtype = DType::kFloat64;
  EXPECT_EQ(refusal_of_module(shard).code, ErrorCode::kCorrupt);
}

TEST(LoadModule, AShapeOfAsManyBytesIsTheManifestsWord) {
  HandMadeShard shard = scaling();
  shard.shard().weights[0].shape = {3, 1};
  const auto module = as_module(shard);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->attr("w").toTensor().sizes(), (std::vector<std::int64_t>{3, 1}));
}

TEST(LoadModule, ManifestAndArchiveHaveTheSameWeights) {
  HandMadeShard fewer = scaling();
  fewer.shard().weights.clear();
  EXPECT_THAT(refusal_of_module(fewer).message, HasSubstr("the manifest has no weight w"));
  HandMadeShard more = scaling();
  more.shard().weights.push_back(more.shard().weights[0]);
  more.shard().weights[1].name = "v";
  EXPECT_THAT(refusal_of_module(more).message, HasSubstr("the archive has no attribute v"));
}

TEST(LoadModule, ManifestAndArchiveTakeTheSameValues) {
  HandMadeShard shard = scaling();
  shard.shard().inputs.clear();
  EXPECT_THAT(refusal_of_module(shard).message,
              HasSubstr("the archive takes 1 values, its manifest says 0"));
}

TEST(LoadModule, AnArchiveWithoutTheMethodIsRefused) {
  HandMadeShard shard;
  shard.input("x", std::int64_t{1}).code("def walk(self, x):\n    return (x,)\n");
  const Error refused = refusal_of_module(shard);
  EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.message, HasSubstr("no method run"));
}

TEST(LoadModule, BytesThatAreNoArchiveAreRefused) {
  HandMadeShard shard = scaling();
  const std::string good = shard.shard().archive;
  for (const std::string& bytes :
       {std::string(), std::string("PK"), good.substr(0, good.size() / 2), good + good,
        std::string(1000, '\0')}) {
    shard.shard().archive = bytes;
    EXPECT_EQ(refusal_of_module(shard).code, ErrorCode::kCorrupt);
  }
}

TEST(FetchWeight, HasTheManifestsTypeAndTheSourcesBytes) {
  const Tensor bytes = from_torch(torch::arange(6).to(torch::kFloat)).value();
  plan::WeightRef weight;
  weight.name = "w";
  weight.dtype = DType::kInt32;
  weight.shape = {2, 3};
  const auto fetched =
      fetch_weight(weight, [&](const Digest&) -> Expected<Tensor> { return bytes; });
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->dtype(), DType::kInt32);
  EXPECT_EQ(fetched->shape(), (Shape{2, 3}));
  EXPECT_EQ(fetched->bytes().data(), bytes.bytes().data());
}

}  // namespace
}  // namespace pareto::runtime
