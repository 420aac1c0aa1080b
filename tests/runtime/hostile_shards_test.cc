// Shards that mean no good, or were made by a strange model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <future>
#include <sstream>

#include "runtime/archive/archive_check.h"
#include "runtime/archive/class_bodies.h"
#include "runtime/archive/code_nesting.h"
#include "runtime/archive/definition_chain.h"
#include "runtime/shard_runner.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/tensor_bounds.h"
#include "tests/runtime/strange_shard.h"
#include "tests/support/rewritten_archive.h"

namespace pareto::runtime {
namespace {

using test::load;
using test::ones;
using test::shard_of;
using testing::HasSubstr;

/// Takes whatever is ready.
class TakesAll final : public EarlyOutputs {
 public:
  bool wants(std::size_t) override { return true; }
  void take(std::size_t, Value) override { ++taken; }
  int taken = 0;
};

TEST(HostileShards, AnOutputThatIsConstantAsAWhole) {
  const plan::Shard shard = shard_of(R"(
def run(self, x):
    return (7, [1, 2], "text")
)");
  for (const std::string& engine : engine_names()) {
    RunnerOptions options;
    options.engine = engine;
    const auto runner = load(shard, options);
    if (!runner) continue;  // an engine that has nothing to do
    for (int i = 0; i < 2; ++i) {
      const auto outputs = (*runner)->run(ones());
      ASSERT_TRUE(outputs) << engine << ": " << outputs.error().message;
      ASSERT_EQ(outputs->size(), 3U) << engine;
      EXPECT_EQ(*(*outputs)[0].get_if<std::int64_t>(), 7) << engine;
    }
    TakesAll early;
    EXPECT_TRUE((*runner)->run_early(ones(), early));
    EXPECT_TRUE((*runner)->profile(ones(), 1, {}));
  }
  EXPECT_TRUE(load(shard));
}

TEST(HostileShards, AnOutputThatABranchMade) {
  const auto runner = load(shard_of(R"(
def run(self, x):
    r = (x + 1, 1)
    if bool(x.sum() > 0):
        r = (x + 2, 2)
    return r
)"));
  ASSERT_TRUE(runner) << runner.error().message;
  const auto outputs = (*runner)->run(ones());
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 2U);
  EXPECT_EQ(*(*outputs)[1].get_if<std::int64_t>(), 2);
  TakesAll early;
  EXPECT_TRUE((*runner)->run_early(ones(), early));
  EXPECT_TRUE((*runner)->profile(ones(), 1, {}));
}

TEST(HostileShards, AnOutputThatIsNoTupleIsRefused) {
  const auto runner = load(shard_of(R"(
def run(self, x):
    return x + 1
)"));
  EXPECT_FALSE(runner && (*runner)->run(ones()));
}

TEST(HostileShards, ALoopWithoutEndIsStopped) {
  const plan::Shard shard = shard_of(R"(
def run(self, x):
    n = 0
    while bool(x.sum() > 0):
        for i in range(10):
            n += i
    return (x, n)
)");
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  RunnerOptions options;
  options.stop = stop;
  // The example inputs of a load have sums above 0, or not: either way it ends.
  auto loading = std::async(std::launch::async, [&] { return load(shard, options); });
  if (loading.wait_for(std::chrono::milliseconds(300)) != std::future_status::ready) *stop = true;
  const auto runner = loading.get();
  ASSERT_TRUE(runner) << runner.error().message;
  *stop = false;
  auto running = std::async(std::launch::async, [&] { return (*runner)->run(ones()); });
  EXPECT_EQ(running.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  *stop = true;
  const auto stopped = running.get();
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("it was stopped"));
  auto profiling =
      std::async(std::launch::async, [&] { return (*runner)->profile(ones(), 1, {}); });
  EXPECT_FALSE(profiling.get());
  *stop = false;
  EXPECT_TRUE((*runner)->run({from_torch(torch::zeros({1, 4})).value()})) << "it runs on";
}

/// Returns the shard's archive with `text` in place of its 12345.
plan::Shard with_code(const std::string& text) {
  plan::Shard shard = shard_of(R"(
def run(self, x):
    return (x + 12345, 1)
)");
  shard.archive = test::rewritten_archive(shard.archive, [&](std::string code) {
    const std::size_t at = code.find("12345");
    EXPECT_NE(at, std::string::npos) << code;
    return at == std::string::npos ? code : code.replace(at, 5, text);
  });
  return shard;
}

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(HostileShards, CodeThatNestsTooDeeplyIsRefusedBeforeItIsParsed) {
  constexpr std::size_t kMany = 200'000;
  for (const std::string& text :
       {times(kMany, "(") + "1" + times(kMany, ")"), times(kMany, "-") + "1",
        times(kMany, "not ") + "True", "1" + times(kMany, "+1"),
        times(kMany, "[") + times(kMany, "]"), "x" + times(kMany, ".t()"),
        times(kMany, "(1, ") + times(kMany, ")")}) {
    const auto runner = load(with_code(text));
    ASSERT_FALSE(runner) << text.substr(0, 20);
    EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(runner.error().message, HasSubstr("nests deeper than")) << text.substr(0, 20);
  }
  std::string blocks = "def run(x):\n";
  for (std::size_t i = 1; i < 2000; ++i) blocks += std::string(2 * i, ' ') + "if True:\n";
  EXPECT_FALSE(check_nesting(blocks));
}

TEST(HostileShards, CodeAsDeepAsIsAllowedIsParsed) {
  // The statement around it takes a few.
  constexpr std::size_t kDeep = kDeepestCode - 30;
  for (const std::string& text :
       {times(kDeep / 2, "(") + "1" + times(kDeep / 2, ")"), "1" + times(kDeep / 2, "+1")}) {
    const auto runner = load(with_code(text));
    EXPECT_TRUE(runner) << text.substr(0, 20) << ": " << runner.error().message;
  }
  // What is long, but not deep.
  EXPECT_TRUE(check_nesting("x = [" + times(100'000, "1, ") + "2]\n"));
  EXPECT_TRUE(check_nesting(times(100'000, "  _0 = torch.relu(x)\n")));
  EXPECT_TRUE(check_nesting("x = \"" + times(100'000, "(") + "\"\n# " + times(100'000, "(")));
}

TEST(HostileShards, WhatLibTorchSaysBehindAnEmptyLineIsPassedOn) {
  const auto runner = load(with_code("1 1"));
  ASSERT_FALSE(runner);
  EXPECT_THAT(runner.error().message, testing::Not(testing::EndsWith(": ")));
}

/// Classes of which each has a member of the next one's; the last one's is of the first's, so that
/// they go round.
std::string chain_of(std::size_t count) {
  std::string code;
  for (std::size_t i = 0; i < count; ++i) {
    code += fmt::format("class C{}(Module):\n  __parameters__ = []\n  m : __torch__.C{}\n", i,
                        (i + 1) % count);
  }
  return code;
}

TEST(HostileShards, ClassesThatLeadTooFarAreRefused) {
  plan::Shard shard = shard_of("\ndef run(self, x):\n    return (x + 1,)\n");
  shard.archive = test::rewritten_archive(
      shard.archive, [](const std::string& code) { return chain_of(5000) + code; });
  const auto runner = load(shard);
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(runner.error().message, HasSubstr("lead from one to the next"));

  DefinitionChain chain;
  chain.add("code/__torch__.py", chain_of(kLongestChain - 1));
  EXPECT_TRUE(chain.check()) << chain.check().error().message;
  // Many that one class has side by side are no chain, wherever they stand.
  std::string members = "class Whole(Module):\n";
  for (int i = 0; i < 5000; ++i) members += fmt::format("  m{} : __torch__.many.Part{}\n", i, i);
  std::string parts;
  for (int i = 0; i < 5000; ++i) parts += fmt::format("class Part{}(Module):\n  x : int\n", i);
  DefinitionChain wide;
  wide.add("code/__torch__.py", members);
  wide.add("code/__torch__/many.py", parts);
  EXPECT_TRUE(wide.check());
}

TEST(HostileShards, ValuesThatNestTooDeeplyAreRefusedBeforeTheyAreMade) {
  constexpr std::size_t kMany = 200'000;
  const std::string start("\x80\x02", 2);
  const std::string type = times(10'000, "List[") + "int" + times(10'000, "]");
  const std::string type_size("\x63\xea\x00\x00", 4);
  ASSERT_EQ(type.size(), 0xea63U);
  for (const std::string& pickle :
       {start + ")" + times(kMany, "\x85") + ".",
        start + times(kMany, "(") + times(kMany, "t") + ".",
        start + times(kMany, "]") + times(kMany - 1, "a") + ".",
        // Each is put into the one before after that was put into another.
        start + "]q\1]q\2]q\3h\1h\2ah\2h\3a.",
        start + "ctorch.jit._pickle\nrestore_type_tag\n(]X" + type_size + type + "tR."}) {
    plan::Shard shard = shard_of("\ndef run(self, x):\n    return (x + 1,)\n");
    shard.archive = test::rewritten_archive(
        shard.archive, [&](const std::string&) { return pickle; }, "data.pkl");
    const auto runner = load(shard);
    ASSERT_FALSE(runner) << pickle.substr(0, 20);
    EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(runner.error().message, HasSubstr("data.pkl: ")) << pickle.substr(0, 20);
  }
}

/// Returns a harmless shard with `bytes` in place of its values.
plan::Shard with_values(const std::string& bytes) {
  plan::Shard shard = shard_of("\ndef run(self, x):\n    return (x + 1,)\n");
  shard.archive = test::rewritten_archive(
      shard.archive, [&](const std::string&) { return bytes; }, "data.pkl");
  return shard;
}

TEST(HostileShards, ValuesTakenFromAnEmptyStackAreRefused) {
  const std::string dict = "ccollections\nOrderedDict\n";
  for (const std::string& values :
       {std::string("R"),     std::string("\x85"), std::string("\x86"), std::string("\x87"),
        std::string("N\x86"), std::string("Q"),    std::string("b"),    std::string("Nb"),
        std::string(")R"),    dict + "R",          std::string("\x81"), std::string("a"),
        std::string("s"),     std::string("t"),    std::string("(u"),   std::string("NN(\x86u"),
        std::string("q\1"),   std::string("h\1"),  std::string("}(Nu"), std::string("}(NNNu")}) {
    const auto runner = load(with_values("\x80\x02" + values + "."));
    ASSERT_FALSE(runner) << values;
    EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt) << values;
    EXPECT_THAT(runner.error().message, HasSubstr("data.pkl: its values ")) << values;
  }
}

TEST(HostileShards, ValuesThatNeedMoreMemoryThanTheyHaveAreRefused) {
  // A place in the memo that is far beyond its end, and a text that is not there.
  for (const std::string& values :
       {std::string("Nr\xff\xff\xff\x7f"), std::string("X\xff\xff\xff\x7f")}) {
    const auto runner = load(with_values("\x80\x02" + values + "."));
    ASSERT_FALSE(runner) << values;
    EXPECT_THAT(runner.error().message, HasSubstr("data.pkl: its values ")) << values;
  }
}

TEST(HostileShards, RecordsSmallerThanTheirTensorsAreRefused) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("w", c10::TensorType::get(), torch::ones({4}));
  module.define("def run(self, x):\n    return (x + self.w,)\n");
  std::ostringstream bytes;
  module.save(bytes);
  EXPECT_TRUE(check_archive(bytes.str()));
  const std::string cut = test::rewritten_archive(
      bytes.str(), [](const std::string& record) { return record.substr(0, 15); }, "data/0");
  const auto checked = check_archive(cut);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(checked.error().message, "data.pkl: a tensor of 16 bytes has 15 (data/0)");
  // LibTorch reads a name to its zero byte, and as it would be in small letters.
  for (const std::string& key : {std::string("0\0", 2), std::string("1"), std::string("x")}) {
    const std::string renamed = test::rewritten_archive(
        bytes.str(),
        [&](std::string pickle) {
          const std::string text = std::string("X\x01\0\0\0", 5) + "0";
          const std::size_t at = pickle.find(text);
          EXPECT_NE(at, std::string::npos);
          const std::string other =
              "X" + std::string(1, static_cast<char>(key.size())) + std::string(3, '\0') + key;
          return at == std::string::npos ? pickle : pickle.replace(at, text.size(), other);
        },
        "data.pkl");
    for (const auto& refused : {check_archive(renamed), check_shard_archive(renamed)}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
      EXPECT_EQ(refused.error().message, "data.pkl: a tensor of 16 bytes has no record in data/");
    }
  }
}

TEST(HostileShards, TensorsLargerThanTheirBytesAreRefused) {
  const auto module_with = [](const at::Tensor& tensor) {
    torch::jit::Module module("__torch__.Shard");
    module.register_attribute("w", c10::TensorType::get(), tensor);
    module.define("def run(self, x):\n    return (x + self.w,)\n");
    return module;
  };
  const at::Tensor four = torch::ones({4});
  EXPECT_TRUE(check_tensor_bounds(module_with(four)));
  EXPECT_TRUE(check_tensor_bounds(module_with(four.narrow(0, 2, 2))));
  EXPECT_TRUE(check_tensor_bounds(module_with(four.expand({1000, 4}))));
  EXPECT_TRUE(check_tensor_bounds(module_with(torch::empty({0, 7}))));
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  struct Claim {
    std::int64_t offset = 0;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
  };
  for (const Claim& claim : {Claim{0, {5}, {1}}, Claim{1, {4}, {1}}, Claim{0, {2}, {kFar}},
                             Claim{kFar, {1}, {1}}, Claim{0, {kFar, 2}, {kFar, 1}}}) {
    at::Tensor forged = torch::ones({4});
    forged.unsafeGetTensorImpl()->set_storage_offset(claim.offset);
    forged.unsafeGetTensorImpl()->set_sizes_and_strides(claim.sizes, claim.strides);
    const auto checked = check_tensor_bounds(module_with(forged));
    ASSERT_FALSE(checked) << claim.sizes;
    EXPECT_THAT(checked.error().message, HasSubstr("the attribute w is larger than its bytes"));
  }
}

TEST(HostileShards, AttributesWithoutATypeOrAValueAreRefused) {
  const auto load_with = [](const std::string& statement, const std::string& base) {
    plan::Shard shard = shard_of("\ndef run(self, x):\n    return (x + 1,)\n");
    shard.archive = test::rewritten_archive(shard.archive, [&](std::string code) {
      const std::string whole = "Shard(Module):\n";
      const std::size_t at = code.find(whole);
      EXPECT_NE(at, std::string::npos) << code;
      return code.replace(at, whole.size(), "Shard(" + base + "):\n  " + statement + "\n");
    });
    return load(shard);
  };
  ASSERT_TRUE(load_with("y : Final[int] = 3", "Module"));
  for (const auto& [statement, base] : std::vector<std::pair<std::string, std::string>>{
           {"y = []", "Module"},
           {"y = 3", "Module"},
           {"y = \\\n    [\": int\"]  # : int", "Module"},
           {"y = {1: 2}", "Module"},
           {"__properties__ = [\"y\"]", "Module"},
           {"__parameters__ : int", "Module"},
           {"__annotations__[\"0\"] : bool", "Module"},
           {"__parameters__ = []", "NamedTuple"},
           {"y : int", "Enum"}}) {
    const auto runner = load_with(statement, base);
    ASSERT_FALSE(runner) << statement;
    EXPECT_EQ(runner.error().code, ErrorCode::kCorrupt) << statement;
    EXPECT_THAT(runner.error().message, HasSubstr("has no ")) << statement;
  }
}

TEST(HostileShards, WhatIsAStatementOfAClassIsReadAsLibTorchReadsIt) {
  EXPECT_TRUE(
      check_class_bodies("class A(Module):\n  x : int\n  def f(self) -> int:\n    y = 3\n"
                         "    return y\ndef g(a: int) -> int:\n  b = a\n  return b\n"));
  EXPECT_TRUE(check_class_bodies(
      "class A(Module):\n  __annotations__ = []\n  __annotations__[\"0\"] = bool\n"));
  EXPECT_TRUE(check_class_bodies("class A(NamedTuple):\n  x : int\n  y : List[int] = [\n3]\n"));
  EXPECT_FALSE(check_class_bodies("def f(self):\n  # type: (int) -> int\n  pass\n"));
  EXPECT_FALSE(check_class_bodies("class A(Module):\n  def f(self):\n    pass\n  y = 3\n"));
  EXPECT_FALSE(check_class_bodies("  class A(Module):\n    y : int\n")) << "an indented file";
}

TEST(HostileShards, AnArchiveThatIsNoneIsLeftToLibTorch) {
  EXPECT_TRUE(check_archive("PK\x03\x04 and so on"));
}

}  // namespace
}  // namespace pareto::runtime
