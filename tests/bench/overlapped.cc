#include "tests/bench/overlapped.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "coordinator/cluster/deployment.h"
#include "coordinator/load/load.h"
#include "coordinator/load/micro_batch.h"
#include "coordinator/statistics/statistics.h"
#include "tests/bench/emulated_daemons.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {
namespace {

constexpr const char* kOverlapModel = "mobilenetv2";
constexpr double kOverlapRate = 100e6;
// At batch 8 the link then takes about as long as both stages together.
constexpr double kOverlapBytes = 75e3;
constexpr int kOverlapRounds = 25;
constexpr int kOverlapWarmUp = 3;

/// A pipeline that is ready, and how its requests travel.
class OverlapContestant {
 public:
  static Expected<OverlapContestant> open(const Pipelines& pipelines, cluster::ShardPool& pool,
                                          cluster::TransportSet& transports, plan::Plan plan) {
    OverlapContestant opened;
    opened.options_.micro_batches = load::micro_batch_sizes(plan);
    opened.options_.requests = 1;
    PARETO_ASSIGN(opened.deployment_, cluster::Deployment::open(
                                          std::move(plan), pipelines.cluster(), pool, transports));
    opened.load_ = std::make_unique<load::Load>(
        opened.deployment_->source(), opened.deployment_->sink(), opened.deployment_->pipeline());
    return opened;
  }

  /// Runs one request, and keeps its time.
  Expected<> run(const Value& request, bool counts) {
    PARETO_ASSIGN(const load::LoadResult result, load_->run(request, options_));
    if (counts) times_.push_back(to_milliseconds(result.samples.front().latency()));
    return {};
  }
  const std::vector<double>& times() const { return times_; }

 private:
  load::LoadOptions options_;
  std::unique_ptr<cluster::Deployment> deployment_;
  std::unique_ptr<load::Load> load_;
  std::vector<double> times_;
};

plan::Plan plan_of(const Pipelines& pipelines, std::int64_t cut, std::int64_t batch,
                   const char* schedule) {
  const auto operators = static_cast<std::int64_t>(pipelines.model().graph().operators.size());
  plan::Plan plan;
  plan.model = kOverlapModel;
  plan.batch = batch;
  plan.splits = {fmt::format("op:{}", cut)};
  plan.stages = {{pipelines.cluster().device(0).config().name, 0, cut},
                 {pipelines.cluster().device(1).config().name, cut, operators}};
  plan.settings.schedule = schedule;
  return plan;
}

/// Returns the times of requests without and with the schedule, in turns.
Expected<nlohmann::json> times_at(const Pipelines& pipelines, std::int64_t cut,
                                  std::int64_t batch) {
  cluster::ModelWorkload workload(pipelines.model());
  cluster::ShardPool pool(workload);
  cluster::TransportSet transports;
  PARETO_ASSIGN(auto inputs, workload.example(batch, 1));
  const Value request{Tuple{std::move(inputs)}};
  std::vector<OverlapContestant> contestants;
  for (const char* schedule : {plan::kSequential, plan::kOverlapSchedule}) {
    PARETO_ASSIGN(auto opened, OverlapContestant::open(pipelines, pool, transports,
                                                       plan_of(pipelines, cut, batch, schedule)));
    contestants.push_back(std::move(opened));
  }
  for (int round = -kOverlapWarmUp; round < kOverlapRounds; ++round) {
    for (OverlapContestant& one : contestants) PARETO_TRY(one.run(request, round >= 0));
  }
  return nlohmann::json{{"without", contestants[0].times()}, {"with", contestants[1].times()}};
}

Expected<nlohmann::json> measure() {
  const plan::LinkDirection link{{}, static_cast<std::uint64_t>(kOverlapRate), 0};
  PARETO_ASSIGN(const auto daemons, EmulatedDaemons::start(link, ""));
  PARETO_ASSIGN(auto cluster, daemons->connect());
  PARETO_ASSIGN(const auto pipelines, Pipelines::over(std::move(cluster), kOverlapModel, "tcp"));
  const model::Model& model = pipelines->model();
  const auto bytes_at = [&](const model::SplitPoint& point) {
    const auto bytes = model::boundary_bytes(model.graph(), point.position, 1).value_or(0);
    return static_cast<double>(bytes);
  };
  const auto* point = best_split_point(
      model, [&](const auto& one) { return std::abs(bytes_at(one) - kOverlapBytes); });
  if (point == nullptr) return fail(ErrorCode::kInternal, "no split point of one tensor");
  nlohmann::json measured{{"cut", point->name}, {"bytes", bytes_at(*point)}};
  for (const std::int64_t batch : {8, 1}) {
    PARETO_ASSIGN(measured[fmt::format("batch{}", batch)],
                  times_at(*pipelines, point->position, batch));
  }
  return measured;
}

Row row(const std::string& name, const nlohmann::json& measured, std::int64_t batch, double bar) {
  const auto& times = measured[fmt::format("batch{}", batch)];
  const double without = statistics::median(times["without"].get<std::vector<double>>());
  const double with = statistics::median(times["with"].get<std::vector<double>>());
  const double link_ms =
      measured["bytes"].get<double>() * static_cast<double>(batch) * 8e3 / kOverlapRate;
  return {name, without / with, bar, true,
          fmt::format(
              "{} batch {} {}: {:.1f} ms / {:.1f} ms with overlap, one in flight; {:.1f} ms "
              "of link",
              kOverlapModel, batch, measured["cut"].get<std::string>(), without, with, link_ms)};
}

}  // namespace

Expected<std::vector<Row>> overlapped(const std::string& name) {
  PARETO_ASSIGN(const auto measured, measure_apart("overlapped", {}));
  return std::vector<Row>{row(name, measured, 8, 1.29),
                          row("light_load/batch1", measured, 1, 0.99)};
}

int run_overlapped(int argc, char** argv) {
  CLI::App app("a pipeline over a slow link, with and without overlap");
  int ready_fd = -1;
  app.add_option("--ready-fd", ready_fd)->required();
  CLI11_PARSE(app, argc, argv);
  return answer_apart(ready_fd, measure);
}

}  // namespace pareto::bench
