#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/train/device_pipeline.h"
#include "coordinator/train/local_pipeline.h"
#include "partitioner/model/zoo/losses.h"
#include "tests/bench/benches.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/loaded_model.h"

namespace pareto::bench {
namespace {

using train::MicroBatch;
using train::TrainingPipeline;

constexpr const char* kPictures = "3x64x64";
constexpr std::int64_t kPictureClasses = 10;

/// A model that is trained, its loss, and samples for it.
struct Trained {
  model::Model model;
  model::Model loss;
  plan::TrainingSettings settings;

  static Expected<Trained> open(const std::string& name, const char* input) {
    model::zoo::ModelOptions options;
    options.num_classes = kPictureClasses;
    if (input != nullptr) {
      PARETO_ASSIGN(options.input, model::parse_input_shapes(input));
    }
    PARETO_ASSIGN(model::Model model, model::zoo::open_model(name, options));
    PARETO_ASSIGN(model::Model loss, model::zoo::open_loss("cross-entropy", model));
    Trained trained{std::move(model), std::move(loss), {}};
    trained.settings.optimiser.momentum = 0.9;
    return trained;
  }

  Expected<std::vector<MicroBatch>> batch(int parts, std::int64_t rows, std::uint64_t seed) const {
    ValueSpec label;
    label.kind = ValueSpec::Kind::kTensor;
    label.range = IntegerRange{0, kPictureClasses - 1};
    label.tensor = {DType::kInt64, {{0, 1}}};
    std::vector<MicroBatch> batch;
    for (int part = 0; part < parts; ++part) {
      const std::uint64_t own = seed * 1000 + static_cast<std::uint64_t>(part);
      PARETO_ASSIGN(auto inputs, model.example_inputs(rows, own));
      PARETO_ASSIGN(Value target, make_example(label, rows, own));
      batch.push_back({std::move(inputs), std::move(target), rows});
    }
    return batch;
  }

  plan::Plan plan(const std::vector<std::string>& devices,
                  const std::vector<std::size_t>& points) const {
    plan::Plan plan;
    plan.settings.threads = 1;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      std::int64_t end = operators_of(model);
      if (i < points.size()) {
        end = model.split_points()[points[i]].position;
        plan.splits.push_back(model.split_points()[points[i]].name);
      }
      plan.stages.push_back({.device = devices[i], .begin = begin, .end = end});
      begin = end;
    }
    return plan;
  }

  Expected<std::unique_ptr<TrainingPipeline>> here(const std::vector<std::size_t>& points) const {
    const std::vector<std::string> devices(points.size() + 1, "here");
    return train::open_local_pipeline(model, loss, plan(devices, points), settings, {},
                                      /*threads=*/1);
  }
};

Expected<> step(TrainingPipeline& pipeline, const std::vector<MicroBatch>& batch,
                std::uint64_t number) {
  // Small enough that nothing diverges, large enough that every parameter changes.
  constexpr double kRate = 1e-3;
  PARETO_ASSIGN(const train::StepOutcome done,
                pipeline.step(batch, {.step = number, .learning_rate = kRate}));
  if (done.loss == done.loss) return {};
  return fail(ErrorCode::kInternal, "the loss is no number in step {}", number);
}

/// Returns the module split point at which the slower of two stages takes least.
Expected<std::size_t> best_cut(const Trained& trained, const std::vector<MicroBatch>& batch) {
  PARETO_ASSIGN(const auto points, select_split_points(trained.model, "modules"));
  std::size_t best = points.front();
  Nanoseconds least = Nanoseconds::max();
  for (const std::size_t point : points) {
    const auto pipeline = trained.here({point});
    if (!pipeline) continue;  // nothing to train behind it
    PARETO_TRY(step(**pipeline, batch, 0));
    // The fastest of a few: whatever else the machine does makes a step longer only.
    for (std::uint64_t number = 1; number <= 3; ++number) {
      PARETO_ASSIGN(const auto timed,
                    (*pipeline)->step(batch, {.step = number, .learning_rate = 1e-3}));
      Nanoseconds slower{};
      for (const plan::StageStepTimes& stage : timed.stages) {
        slower = std::max(slower, stage.forward + stage.backward + stage.optimiser);
      }
      if (slower < least) {
        least = slower;
        best = point;
      }
    }
  }
  return best;
}

/// Two daemons, a core and a thread each, and what a model's pipelines on them need.
class Daemons {
 public:
  static Expected<std::unique_ptr<Daemons>> start(const model::Model& model) {
    auto daemons = std::make_unique<Daemons>(model);
    PARETO_ASSIGN(daemons->cluster_, cluster::Cluster::start_local(
                                         2, std::filesystem::path(PARETO_BIN_DIR) / "paretod"));
    return daemons;
  }
  explicit Daemons(const model::Model& model) : workload_(model), pool_(workload_) {}

  Expected<std::unique_ptr<train::DevicePipeline>> deploy(const Trained& trained,
                                                          const std::vector<std::size_t>& points) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= points.size(); ++i) {
      names.push_back(cluster_->device(i % 2).config().name);
    }
    return train::DevicePipeline::open(trained.model, trained.loss, trained.plan(names, points),
                                       trained.settings, {}, *cluster_, pool_, transports_);
  }

 private:
  cluster::ModelWorkload workload_;
  std::optional<cluster::Cluster> cluster_;
  cluster::TransportSet transports_;
  cluster::ShardPool pool_;
};

/// Returns how many tensors of two states differ.
Expected<int> differing(TrainingPipeline& one, TrainingPipeline& other) {
  PARETO_ASSIGN(const auto first, one.state());
  PARETO_ASSIGN(const auto second, other.state());
  if (first.size() != second.size()) return fail(ErrorCode::kInternal, "other tensors");
  int count = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool equal =
        first[i].name == second[i].name && bit_equal(first[i].tensor, second[i].tensor);
    count += equal ? 0 : 1;
  }
  return count;
}

}  // namespace

Expected<std::vector<Row>> training_mismatches(const std::string& name,
                                               const std::vector<std::string>& models) {
  constexpr std::uint64_t kSteps = 20;
  int wrong = 0;
  int compared = 0;
  for (const std::string& model : models) {
    PARETO_ASSIGN(const Trained trained, Trained::open(model, kPictures));
    PARETO_ASSIGN(const auto daemons, Daemons::start(trained.model));
    PARETO_ASSIGN(const auto points, select_split_points(trained.model, "modules"));
    const std::size_t middle = points[points.size() / 2];
    const std::size_t early = points[points.size() / 4];
    for (const auto& cuts : std::vector<std::vector<std::size_t>>{{middle}, {early, middle}}) {
      PARETO_ASSIGN(const auto whole, trained.here({}));
      PARETO_ASSIGN(const auto cut, daemons->deploy(trained, cuts));
      for (std::uint64_t number = 0; number < kSteps; ++number) {
        PARETO_ASSIGN(const auto batch, trained.batch(2, 4, number));
        PARETO_TRY(step(*whole, batch, number));
        PARETO_TRY(step(*cut, batch, number));
      }
      PARETO_ASSIGN(const int differ, differing(*cut, *whole));
      PARETO_ASSIGN(const auto state, whole->state());
      wrong += differ;
      compared += static_cast<int>(state.size());
    }
  }
  return std::vector<Row>{
      {name, static_cast<double>(wrong), 0, false,
       fmt::format(
           "tensors of {} that differ after {} steps over two daemons, two and three stages",
           compared, kSteps)}};
}

Expected<std::vector<Row>> training_overhead(const std::string& name, const std::string& model) {
  PARETO_ASSIGN(const Trained trained, Trained::open(model, nullptr));
  PARETO_ASSIGN(const auto points, select_split_points(trained.model, "modules"));
  PARETO_ASSIGN(const auto whole, trained.here({}));
  PARETO_ASSIGN(const auto cut, trained.here({points[points.size() / 2]}));
  PARETO_ASSIGN(const auto batch, trained.batch(1, 4, 1));
  std::uint64_t number = 0;
  std::vector<std::function<Expected<>()>> contestants;
  for (TrainingPipeline* const pipeline : {whole.get(), cut.get()}) {
    contestants.emplace_back([&, pipeline] { return step(*pipeline, batch, number++); });
  }
  PARETO_ASSIGN(const auto minima, interleaved_minima(contestants, std::chrono::seconds(6), 6));
  return std::vector<Row>{{name, to_milliseconds(minima[1]) / to_milliseconds(minima[0]), 1.03,
                           false,
                           fmt::format("{:.1f} ms in two stages / {:.1f} ms uncut, batch 4, one "
                                       "process, one thread",
                                       to_milliseconds(minima[1]), to_milliseconds(minima[0]))}};
}

Expected<std::vector<Row>> training_speedup(const std::string& name, const std::string& model) {
  constexpr int kParts = 16;
  constexpr std::int64_t kRows = 4;
  PARETO_ASSIGN(const Trained trained, Trained::open(model, nullptr));
  PARETO_ASSIGN(const auto one_part, trained.batch(1, kRows, 1));
  PARETO_ASSIGN(const std::size_t cut, best_cut(trained, one_part));
  PARETO_ASSIGN(const auto daemons, Daemons::start(trained.model));
  PARETO_ASSIGN(const auto batch, trained.batch(kParts, kRows, 1));
  PARETO_ASSIGN(const auto alone, daemons->deploy(trained, {}));
  PARETO_ASSIGN(const auto both, daemons->deploy(trained, {cut}));
  std::uint64_t number = 0;
  std::vector<std::function<Expected<>()>> contestants;
  for (TrainingPipeline* const pipeline :
       std::array<TrainingPipeline*, 2>{alone.get(), both.get()}) {
    contestants.emplace_back([&, pipeline] { return step(*pipeline, batch, number++); });
  }
  PARETO_ASSIGN(const auto medians, interleaved_medians(contestants, std::chrono::seconds(45), 5));
  return std::vector<Row>{
      {name, to_milliseconds(medians[0]) / to_milliseconds(medians[1]), 1.6, true,
       fmt::format("{:.0f} ms on one daemon / {:.0f} ms on two, cut {}, {} micro-batches of {}",
                   to_milliseconds(medians[0]), to_milliseconds(medians[1]),
                   trained.model.split_points()[cut].name, kParts, kRows)}};
}

}  // namespace pareto::bench
