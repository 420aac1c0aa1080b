#include "tests/daemon/support/fake_runner.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace pareto::daemon::test {
namespace {

constexpr Nanoseconds kPlain{1000};

class FakeRunner final : public runtime::ShardRunner {
 public:
  FakeRunner(const plan::Shard& shard, const runtime::RunnerOptions& options,
             std::shared_ptr<FakeRuns> runs)
      : add_(static_cast<float>(shard.end - shard.begin)), runs_(std::move(runs)) {
    const std::string& engine = options.engine;
    report_.engine = engine == "auto" ? "plain" : engine;
    report_.precision_reason = options.precision == runtime::Precision::kFloat32
                                   ? options.precision_reason
                                   : "it only computes in fp32";
    report_.schedule = options.schedule == "auto" ? "mixed" : options.schedule;
    report_.schedule_reason =
        options.schedule == "auto" ? "the fastest of 2" : options.schedule_reason;
    report_.timings.push_back({"plain", kPlain, "", 0});
    if (engine == "auto") report_.timings.push_back({"slow", 2 * kPlain, "", 0});
    report_.weight_bytes = shard.weight_bytes();
    report_.packed_bytes = runs_->packed_bytes;
    if (report_.schedule != "sequential") {
      for (const Nanoseconds each : runs_->workers) workers_.emplace_back().each = each;
    }
  }

  Expected<std::vector<Value>> run(std::vector<Value> inputs) override {
    const int number = runs_->runs++;
    const int now = ++runs_->running;
    int most = runs_->most_at_once;
    while (most < now && !runs_->most_at_once.compare_exchange_weak(most, now)) {
    }
    const Expected<> allowed = runs_->on_run(number);
    --runs_->running;
    for (Worker& worker : workers_) worker.computed += worker.each.count();
    PARETO_TRY(allowed);
    std::vector<Value> outputs;
    for (const Tensor* input : tensors_of(inputs)) {
      PARETO_ASSIGN(Tensor output, Tensor::allocate(input->dtype(), input->shape()));
      for (std::size_t i = 0; i + sizeof(float) <= input->size_bytes(); i += sizeof(float)) {
        float element = 0;
        std::memcpy(&element, input->bytes().data() + i, sizeof element);
        element += add_;
        std::memcpy(output.mutable_bytes().data() + i, &element, sizeof element);
      }
      outputs.emplace_back(std::move(output));
    }
    return outputs;
  }

  Expected<std::vector<Value>> run_early(std::vector<Value> inputs,
                                         runtime::EarlyOutputs& early) override {
    PARETO_ASSIGN(std::vector<Value> outputs, run(std::move(inputs)));
    if (!runs_->after_early) return outputs;
    for (std::size_t i = 0; i + 1 < outputs.size(); ++i) {
      if (early.wants(i)) early.take(i, std::exchange(outputs[i], None{}));
    }
    runs_->after_early(runs_->runs - 1);
    return outputs;
  }

  Expected<runtime::ShardProfile> profile(std::vector<Value>, int repeats,
                                          const std::vector<std::int64_t>& cuts) override {
    ++runs_->profiles;
    runtime::ShardProfile profile{
        {{0, "fake::add", "body", "fake::add()", runs_->operator_time * repeats}}, {}};
    std::int64_t begin = 0;
    for (const std::int64_t cut : cuts) {
      profile.segments.push_back({begin, cut, runs_->operator_time * repeats});
      begin = cut;
    }
    return profile;
  }

  std::vector<Nanoseconds> worker_times() const override {
    std::vector<Nanoseconds> times;
    for (const Worker& worker : workers_) times.emplace_back(worker.computed.load());
    return times;
  }

  const runtime::LoadReport& report() const override { return report_; }

 private:
  struct Worker {
    Nanoseconds each{};
    std::atomic<Nanoseconds::rep> computed{0};
  };

  const float add_;
  const std::shared_ptr<FakeRuns> runs_;
  runtime::LoadReport report_;
  std::deque<Worker> workers_;
};

}  // namespace

runtime::RunnerFactory fake_runners(std::shared_ptr<FakeRuns> runs) {
  return [runs = std::move(runs)](const plan::Shard& shard, const runtime::WeightSource& weights,
                                  const runtime::RunnerOptions& options)
             -> Expected<std::unique_ptr<runtime::ShardRunner>> {
    PARETO_TRY(runs->on_load());
    PARETO_TRY(runs->on_load_with(options));
    runs->engines.push_back(options.engine);
    runs->schedules.push_back(options.schedule);
    runs->skips_slow =
        options.is_hopeless && options.is_hopeless("slow", runtime::Precision::kFloat32, kPlain);
    runs->precisions.push_back(options.precision);
    for (const plan::WeightRef& weight : shard.weights) {
      PARETO_TRY(with_context(weights(weight.digest), "weight {}", weight.name));
    }
    ++runs->loads;
    return std::make_unique<FakeRunner>(shard, options, runs);
  };
}

plan::Shard make_shard(std::int64_t begin, std::int64_t end, std::vector<plan::WeightRef> weights,
                       std::size_t values) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor = {DType::kFloat32, {{0, 1}, {4, 0}}};
  plan::Shard shard;
  shard.model = "fake";
  shard.begin = begin;
  shard.end = end;
  shard.archive = "archive";
  shard.weights = std::move(weights);
  shard.inputs.assign(values, {"x", spec});
  shard.outputs.assign(values, {"y", spec});
  shard.torch_version = "1.13.1";
  return shard;
}

Tensor filled(float value) {
  Tensor tensor = Tensor::allocate(DType::kFloat32, {1, 4}).value();
  for (std::size_t i = 0; i < 4; ++i) {
    std::memcpy(tensor.mutable_bytes().data() + i * sizeof value, &value, sizeof value);
  }
  return tensor;
}

float first_float(const Value& value) {
  float element = -1;
  const auto tensors = tensors_of(value);
  if (!tensors.empty() && tensors[0]->size_bytes() >= sizeof element) {
    std::memcpy(&element, tensors[0]->bytes().data(), sizeof element);
  }
  return element;
}

}  // namespace pareto::daemon::test
