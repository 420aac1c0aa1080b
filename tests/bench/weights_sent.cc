#include <atomic>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/bench/benches.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {

Expected<std::vector<Row>> weights_sent(const std::string& name, const std::string& model_name,
                                        double bar) {
  PARETO_ASSIGN(const auto model, model::zoo::open_model(model_name, {}));
  PARETO_ASSIGN(auto cluster, cluster::Cluster::start_local(
                                  2, std::filesystem::path(PARETO_BIN_DIR) / "paretod"));
  PARETO_ASSIGN(const auto folder, TemporaryFolder::create("pareto-bench-"));
  PARETO_ASSIGN(const auto store, results::ResultStore::open(folder.path() / "runs.db"));
  sweep::SweepOptions options;
  options.transports = {"tcp"};
  options.rounds = 1;
  options.requests = 1;
  PARETO_ASSIGN(auto run, sweep::make_run(model, cluster, options, "pareto_bench"));
  PARETO_TRY(store->begin_run(run));
  const std::atomic<bool> never{false};
  PARETO_TRY(sweep::run_sweep(model, cluster, options, run, *store, never,
                              [](const sweep::SweepProgress&) {}));
  std::uint64_t all = 0;
  for (const auto& weight : model.graph().weights) all += weight.size_bytes;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DaemonClient& device = cluster.device(i);
    const std::uint64_t sent = device.weights_sent_bytes();
    rows.push_back({name + "/" + device.config().name,
                    static_cast<double>(sent) / static_cast<double>(all), bar, false,
                    fmt::format("{} / {} of {}, in a sweep of {} trials", format_bytes(sent),
                                format_bytes(all), model_name, run.trials.size())});
  }
  return rows;
}

}  // namespace pareto::bench
