#include "runtime/torch/interruption.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/torch/compat.h"
#include "runtime/torch/map_devices.h"
#include "runtime/torch/threads.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

c10::IValue run(const torch::jit::Code& code, std::vector<c10::IValue> stack) {
  torch::jit::InterpreterState(code).run(stack);
  return stack.back();
}

constexpr const char* kLoops = R"(
def run(self, n: int):
    sum = 0
    for i in range(n):
        j = 0
        while j < 3:
            j += 1
            sum += j
    return (sum,)
)";

TEST(Interruption, LoopsOfAGraphThrowOnceTheFlagIsSet) {
  const auto module = module_of(kLoops);
  const auto graph = module.get_method("run").graph()->copy();
  insert_stop_checks(*graph);
  const torch::jit::Code code(graph, "run");
  std::atomic<bool> stop = false;
  const StopScope scope(&stop);
  EXPECT_EQ(run(code, {module._ivalue(), std::int64_t{4}}).toTupleRef().elements()[0].toInt(), 24);
  stop = true;
  try {
    run(code, {module._ivalue(), std::int64_t{1} << 40});
    FAIL() << "it went on";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("it was stopped"));
  }
}

TEST(Interruption, AnotherThreadMayEndIt) {
  const auto module = module_of(kLoops);
  const auto graph = module.get_method("run").graph()->copy();
  insert_stop_checks(*graph);
  const torch::jit::Code code(graph, "run");
  std::atomic<bool> stop = false;
  std::atomic<bool> ended = false;
  std::jthread worker([&] {
    const StopScope scope(&stop);
    EXPECT_ANY_THROW(run(code, {module._ivalue(), std::int64_t{1} << 50}));
    ended = true;
  });
  stop = true;
  worker.join();
  EXPECT_TRUE(ended);
}

TEST(Interruption, ScopesAreOfTheirThreadAndNest) {
  const auto module = module_of(kLoops);
  const auto graph = module.get_method("run").graph()->copy();
  insert_stop_checks(*graph);
  const torch::jit::Code code(graph, "run");
  const auto ends = [&] {
    try {
      run(code, {module._ivalue(), std::int64_t{2}});
      return true;
    } catch (const std::exception&) {
      return false;
    }
  };
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(ends()) << "nobody asks";
  {
    const StopScope outer(&stop);
    EXPECT_FALSE(ends());
    {
      const StopScope inner(nullptr);
      EXPECT_TRUE(ends());
    }
    EXPECT_FALSE(ends());
    bool other = false;
    std::jthread([&] { other = ends(); }).join();
    EXPECT_TRUE(other);
  }
  EXPECT_TRUE(ends());
}

TEST(Interruption, LoopsOfCalledMethodsAskAsWell) {
  const auto module = module_of(R"(
def endless(self, n: int) -> int:
    i = 0
    while i < n:
        i += 1
    return i

def run(self, n: int):
    return (self.endless(n),)
)");
  for_each_called(module, insert_stop_checks);
  EXPECT_EQ(module.get_method("run")({std::int64_t{5}}).toTupleRef().elements()[0].toInt(), 5);
  const std::atomic<bool> stop = true;
  const StopScope scope(&stop);
  EXPECT_ANY_THROW(module.get_method("run")({std::int64_t{1} << 50}));
}

TEST(MapDevices, ModelsSavedOnAnotherDeviceRunHere) {
  const auto module = module_of(R"(
def run(self, x):
    y = torch.zeros([2], device=torch.device("cuda:0"))
    z = torch.ones([2], device="cuda:1")
    return (x.cuda() + y + z.to("cuda:0"),)
)");
  map_devices(module, c10::kCPU);
  const auto results = module.get_method("run")({at::ones({2})});
  EXPECT_TRUE(results.toTupleRef().elements()[0].toTensor().equal(at::full({2}, 2)));
}

TEST(MapDevices, CodeWithoutDevicesIsLeftAsItIs) {
  const auto module = module_of("\ndef run(self, x):\n    return (x + 1,)\n");
  const std::string before = module.get_method("run").graph()->toString();
  map_devices(module, c10::kCPU);
  EXPECT_EQ(module.get_method("run").graph()->toString(), before);
}

TEST(Threads, CountsAreOfTheCallingThread) {
  set_thread_count(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  set_thread_count(2);
  EXPECT_EQ(at::get_num_threads(), 2);
  set_thread_count(1);
}

TEST(Threads, RandomNumbersBeginAnew) {
  seed_random_numbers(7);
  const at::Tensor first = at::rand({10});
  const at::Tensor second = at::rand({10});
  seed_random_numbers(7);
  EXPECT_TRUE(at::rand({10}).equal(first));
  EXPECT_FALSE(second.equal(first));
  seed_random_numbers(8);
  EXPECT_FALSE(at::rand({10}).equal(first));
}

}  // namespace
}  // namespace pareto::runtime
