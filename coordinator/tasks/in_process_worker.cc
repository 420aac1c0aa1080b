#include <map>
#include <utility>

#include "coordinator/tasks/worker.h"

namespace pareto::tasks {
namespace {

class InProcessWorker final : public Worker {
 public:
  Expected<std::string> load(StageId stage, const plan::Shard& shard,
                             const runtime::WeightSource& weights,
                             const runtime::RunnerOptions& options) override {
    PARETO_ASSIGN(auto runner, runtime::ShardRunner::load(shard, weights, options));
    std::string engine = runner->report().engine;
    runners_[stage] = std::move(runner);
    return engine;
  }

  void unload(StageId stage) override { runners_.erase(stage); }

  Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) override {
    const auto runner = runners_.find(stage);
    if (runner == runners_.end()) {
      return fail(ErrorCode::kInternal, "stage {} is not loaded", stage);
    }
    return runner->second->run(std::move(inputs));
  }

 private:
  std::map<StageId, std::unique_ptr<runtime::ShardRunner>> runners_;
};

}  // namespace

std::unique_ptr<Worker> make_in_process_worker() { return std::make_unique<InProcessWorker>(); }

}  // namespace pareto::tasks
