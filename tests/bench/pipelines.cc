#include "tests/bench/pipelines.h"

#include <filesystem>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::bench {

Expected<std::unique_ptr<Pipelines>> Pipelines::start(const std::string& model_name,
                                                      const std::string& transport, int daemons) {
  PARETO_ASSIGN(auto cluster, cluster::Cluster::start_local(
                                  daemons, std::filesystem::path(PARETO_BIN_DIR) / "paretod"));
  return over(std::move(cluster), model_name, transport);
}

Expected<std::unique_ptr<Pipelines>> Pipelines::over(cluster::Cluster cluster,
                                                     const std::string& model_name,
                                                     const std::string& transport) {
  PARETO_ASSIGN(auto model, model::zoo::open_model(model_name, {}));
  std::unique_ptr<Pipelines> pipelines(new Pipelines(std::move(model), std::move(cluster)));
  pipelines->transport_ = transport;
  PARETO_ASSIGN(auto inputs, pipelines->workload_.example(1, 1));
  pipelines->request_ = Tuple{std::move(inputs)};
  return pipelines;
}

Expected<std::unique_ptr<cluster::Deployment>> Pipelines::deploy(
    const std::vector<std::int64_t>& positions, const cluster::DeploymentOptions& options) {
  plan::Plan plan;
  plan.model = model_.name();
  plan.transport = transport_;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= positions.size(); ++i) {
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    const std::int64_t end = i < positions.size() ? positions[i] : operators;
    plan.stages.push_back({cluster_.device(i).config().name, begin, end});
    if (i < positions.size()) plan.splits.push_back(fmt::format("op:{}", end));
    begin = end;
  }
  return cluster::Deployment::open(plan, cluster_, pool_, transports_, options);
}

Expected<load::LoadResult> Pipelines::load(cluster::Deployment& deployment, int window,
                                           Nanoseconds duration) {
  load::LoadOptions options;
  options.window = window;
  options.requests = 4 * window;
  options.duration = duration;
  return load::Load(deployment.source(), deployment.sink(), deployment.pipeline())
      .run(request_, options);
}

Expected<load::LoadResult> Pipelines::load(cluster::Deployment& deployment, int window,
                                           int requests) {
  load::LoadOptions options;
  options.window = window;
  options.requests = requests;
  return load::Load(deployment.source(), deployment.sink(), deployment.pipeline())
      .run(request_, options);
}

}  // namespace pareto::bench
