// Shards and pipelines on a GPU, against the processor. tests/gpu/run runs it; ctest does not know
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/sweep/run_once.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_plan.h"
#include "partitioner/model/emit/emit.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/shard_runner.h"
#include "tests/e2e/fixture.h"

namespace pareto {
namespace {

using cluster::Cluster;
using model::Model;
using runtime::RunnerOptions;
using runtime::ShardRunner;
using sweep::RunOnceOptions;
using testing::HasSubstr;

constexpr std::int64_t kBatch = 2;
/// cuDNN computes convolutions in TF32, which keeps ten bits of a number's mantissa.
constexpr double kOtherDevice = 1e-2;

/// Returns the device that stands for the GPU: cuda:0, or PARETO_GPU, such as cpu to try the tests
/// themselves.
std::string gpu() {
  const char* const named = std::getenv("PARETO_GPU");
  return named != nullptr && *named != '\0' ? named : "cuda:0";
}

/// Skips the test on a machine without that device.
#define NEED_GPU() \
  if (const auto there = runtime::check_device(gpu()); !there) GTEST_SKIP() << there.error().message

/// A built-in model with its outputs for one batch, computed here.
struct Known {
  explicit Known(const std::string& name)
      : model(model::zoo::open_model(name, {}).value()),
        inputs(model.example_inputs(kBatch, 7).value()),
        outputs{model.run_whole(inputs).value()} {}

  std::int64_t operators() const {
    return static_cast<std::int64_t>(model.graph().operators.size());
  }
  std::vector<std::size_t> points(const std::string& text) const {
    return model::select_split_points(model, text).value();
  }
  Expected<std::unique_ptr<ShardRunner>> load(std::int64_t begin, std::int64_t end,
                                              const std::string& device,
                                              const std::string& engine) const {
    RunnerOptions options;
    options.engine = engine;
    options.device = device;
    options.batch = kBatch;
    PARETO_ASSIGN(const plan::Shard shard, model::emit_shard(model, begin, end));
    return ShardRunner::load(
        shard, [this](const Digest& digest) { return model.weight(digest); }, options);
  }
  /// Returns the plain engine's outputs, cut at that position: what is before it on one device, the
  /// rest on the other.
  Expected<Tuple> run(std::int64_t position, const std::string& before,
                      const std::string& after) const {
    PARETO_ASSIGN(const auto prefix, load(0, position, before, "plain"));
    PARETO_ASSIGN(const auto suffix, load(position, operators(), after, "plain"));
    PARETO_ASSIGN(auto between, prefix->run(inputs));
    PARETO_ASSIGN(auto results, suffix->run(std::move(between)));
    return Tuple{std::move(results)};
  }

  Model model;
  std::vector<Value> inputs;
  Tuple outputs;
};

class Gpu : public testing::TestWithParam<std::string> {};

TEST_P(Gpu, EveryEngineThatRunsThereAgreesWithTheProcessor) {
  NEED_GPU();
  const Known known(GetParam());
  std::vector<std::string> engines = runtime::engine_names();
  engines.emplace_back("auto");
  for (const std::string& engine : engines) {
    const auto runner = known.load(0, known.operators(), gpu(), engine);
    if (!runner && gpu() != "cpu" && (engine == "onednn" || engine == "prepacked")) {
      EXPECT_THAT(runner.error().message, HasSubstr("CPU only"));
      continue;
    }
    ASSERT_TRUE(runner) << engine << ": " << runner.error().message;
    const auto outputs = (*runner)->run(known.inputs);
    ASSERT_TRUE(outputs) << engine << ": " << outputs.error().message;
    const double error = relative_error(known.outputs, Tuple{*outputs});
    std::cout << GetParam() << ' ' << engine << " (" << (*runner)->report().engine << "): error "
              << error << '\n';
    EXPECT_LT(error, kOtherDevice) << engine;
  }
}

TEST_P(Gpu, CutModelsGiveTheWholeModelsOutputs) {
  NEED_GPU();
  const Known known(GetParam());
  const auto whole = known.load(0, known.operators(), gpu(), "plain").value()->run(known.inputs);
  ASSERT_TRUE(whole) << whole.error().message;
  for (const std::size_t point : known.points("percent:20,percent:50,percent:80")) {
    const auto& cut = known.model.split_points()[point];
    const auto there = known.run(cut.position, gpu(), gpu());
    ASSERT_TRUE(there) << there.error().message;
    EXPECT_TRUE(bit_equal(Value(*there), Value(Tuple{*whole})))
        << cut.position << ": off by " << relative_error(Tuple{*whole}, *there);
    for (const bool first : {true, false}) {
      const auto mixed = known.run(cut.position, first ? gpu() : "cpu", first ? "cpu" : gpu());
      ASSERT_TRUE(mixed) << mixed.error().message;
      const double error = relative_error(known.outputs, *mixed);
      std::cout << GetParam() << " cut at " << cut.position << ", the GPU "
                << (first ? "first" : "last") << ": error " << error << '\n';
      EXPECT_LT(error, kOtherDevice);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Gpu,
                         testing::Values("resnet50", "mobilenetv2", "googlenet", "densenet121"),
                         [](const auto& named) { return named.param; });

/// Real daemons: one on the processor, two on the GPU.
class GpuPipeline : public test::EndToEnd {
 protected:
  void start() {
    std::vector<cluster::DeviceConfig> devices;
    for (const std::string name : {"processor", "gpu-1", "gpu-2"}) {
      daemons_.push_back(std::make_unique<test::Daemon>(
          name, folder(),
          std::vector<std::string>{"--device", name == "processor" ? "cpu" : gpu()}));
      devices.push_back({name, daemons_.back()->address()});
    }
    cluster_ = Cluster::connect(devices).value();
    options_.settings.engine = "plain";
  }

  Expected<Tuple> outputs(const Known& known, const std::string& split,
                          const std::vector<std::string>& devices, const std::string& transport) {
    RunOnceOptions once;
    once.inputs = known.inputs;
    once.requests = 4;
    const auto points = split.empty() ? std::vector<std::size_t>{} : known.points(split);
    PARETO_ASSIGN(plan::Plan plan,
                  sweep::make_plan(known.model, points, devices, kBatch, options_));
    plan.transport = transport;
    plan.window = 1;
    PARETO_ASSIGN(auto result, sweep::run_once(known.model, *cluster_, plan, once));
    return Tuple{std::move(result.outputs)};
  }

  std::vector<std::unique_ptr<test::Daemon>> daemons_;
  std::optional<Cluster> cluster_;
  sweep::SweepOptions options_;
};

TEST_F(GpuPipeline, StagesOnTheProcessorAndTheGpuGiveTheWholeModelsOutputs) {
  NEED_GPU();
  start();
  const Known known("resnet18");
  const auto whole = outputs(known, "", {"gpu-1"}, "tcp");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_LT(relative_error(known.outputs, *whole), kOtherDevice);
  for (const auto& [transport, split] :
       {std::pair<std::string, std::string>{"tcp", "percent:30"}, {"grpc", "percent:70"}}) {
    const auto there = outputs(known, split, {"gpu-1", "gpu-2"}, transport);
    ASSERT_TRUE(there) << there.error().message;
    EXPECT_TRUE(bit_equal(Value(*there), Value(*whole)))
        << split << ": off by " << relative_error(*whole, *there);
    for (const auto& devices : {std::vector<std::string>{"processor", "gpu-1"},
                                std::vector<std::string>{"gpu-1", "processor"}}) {
      const auto mixed = outputs(known, split, devices, transport);
      ASSERT_TRUE(mixed) << mixed.error().message;
      const double error = relative_error(known.outputs, *mixed);
      std::cout << transport << ' ' << split << ' ' << devices[0] << " -> " << devices[1]
                << ": error " << error << '\n';
      EXPECT_LT(error, kOtherDevice);
    }
  }
}

}  // namespace
}  // namespace pareto
