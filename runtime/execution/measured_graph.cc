#include "runtime/execution/measured_graph.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

constexpr int kMeasuredRuns = 5;
// Fewer runs are enough for a large model, whose loading would take long.
constexpr int kLeastRuns = 2;
constexpr std::chrono::milliseconds kEnoughTime{500};

using Sizes = std::vector<std::int64_t>;

/// Returns the least time of each operator over a few runs, the first of which warms up.
std::vector<double> least_times(ScheduledEngine& engine, std::size_t operators,
                                const std::vector<c10::IValue>& arguments,
                                ScheduledEngine::Record& record) {
  std::vector<double> least(operators, 1e300);
  const auto start = std::chrono::steady_clock::now();
  const auto is_enough = [&](int runs) {
    return runs >= kLeastRuns && std::chrono::steady_clock::now() - start >= kEnoughTime;
  };
  for (int run = 0; run <= kMeasuredRuns && !is_enough(run - 1); ++run) {
    engine.record(&record);
    engine.run(arguments, nullptr);
    if (run == 0) continue;
    for (const schedules::TurnTime& turn : record.turns) {
      const auto took = static_cast<double>((turn.end - turn.begin).count());
      least[turn.unit] = std::min(least[turn.unit], took);
    }
  }
  engine.record(nullptr);
  return least;
}

/// Tells whether sizes of a whole batch and of a part are those of rows of samples (true), or equal
/// (false). Returns why neither is so, or nothing.
std::string compare(const Sizes& whole, const Sizes& part, std::int64_t batch,
                    std::int64_t part_batch, bool& batched) {
  batched = false;
  if (whole == part) return "";
  const bool rows = !whole.empty() && whole.size() == part.size() && whole[0] == batch &&
                    part[0] == part_batch &&
                    std::equal(whole.begin() + 1, whole.end(), part.begin() + 1);
  batched = rows;
  return rows ? "" : "a tensor in it does not hold one row a sample";
}

}  // namespace

MeasuredGraph::MeasuredGraph(const EngineEntry& entry, LoadedModule loaded, int threads,
                             ThreadPool& pool)
    : entry_(entry),
      loaded_(std::move(loaded)),
      threads_(threads),
      pool_(pool),
      engine_graph_(entry.prepare(loaded_)),
      operators_(engine_graph_.graph),
      extras_{engine_graph_.extra},
      graph_(operators_.weighted()) {}

schedules::Timetable MeasuredGraph::one_by_one(bool all_threads) const {
  schedules::Timetable timetable;
  schedules::Phase& phase = timetable.phases.emplace_back();
  phase.all_threads = all_threads;
  auto& turns = phase.workers.emplace_back();
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    timetable.units.push_back({{i}});
    turns.push_back({i, 0});
  }
  return timetable;
}

void MeasuredGraph::measure(const std::vector<c10::IValue>& arguments) {
  ScheduledEngine::Record record;
  const auto one = least_times(*build(one_by_one(false)), graph_.nodes.size(), arguments, record);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    graph_.nodes[i].cost = one[i];
    graph_.nodes[i].output_bytes = 0;
    for (const std::size_t value : operators_.made_by(i)) {
      graph_.nodes[i].output_bytes += record.bytes[value];
    }
  }
  if (threads_ == 1) return;
  const auto all = least_times(*build(one_by_one(true)), graph_.nodes.size(), arguments, record);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) graph_.nodes[i].cost_all = all[i];
}

std::string MeasuredGraph::find_batch_rule(std::int64_t batch,
                                           const std::vector<c10::IValue>& whole,
                                           const std::vector<c10::IValue>& part) {
  const auto engine = build(one_by_one(false));
  ScheduledEngine::Record of_whole;
  ScheduledEngine::Record of_part;
  engine->record(&of_whole);
  engine->run(whole, nullptr);
  engine->record(&of_part);
  engine->run(part, nullptr);
  BatchRule rule{batch, std::vector<bool>(operators_.values(), false)};
  std::int64_t part_batch = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!whole[i].isTensor()) {
      if (whole[i] == part[i]) continue;
      return "an argument that is no tensor depends on the batch";
    }
    of_whole.sizes[i + 1] = whole[i].toTensor().sizes().vec();
    of_part.sizes[i + 1] = part[i].toTensor().sizes().vec();
    if (part_batch == 0 && of_part.sizes[i + 1] != of_whole.sizes[i + 1]) {
      part_batch = of_part.sizes[i + 1].empty() ? 0 : of_part.sizes[i + 1][0];
    }
  }
  if (part_batch == 0) return "no argument depends on the batch";
  for (std::size_t i = 0; i < operators_.values(); ++i) {
    bool batched = false;
    const std::string why =
        compare(of_whole.sizes[i], of_part.sizes[i], batch, part_batch, batched);
    if (!why.empty()) return why;
    rule.batched[i] = batched;
  }
  rule_ = std::move(rule);
  return "";
}

std::unique_ptr<ScheduledEngine> MeasuredGraph::build(schedules::Timetable timetable) {
  while (extras_.size() < timetable.parts) {
    // An engine without values of its own serves any number of workers.
    extras_.push_back(engine_graph_.extra.empty() ? std::vector<c10::IValue>{}
                                                  : entry_.prepare(loaded_).extra);
  }
  std::vector<std::vector<c10::IValue>> extras(
      extras_.begin(), extras_.begin() + static_cast<std::ptrdiff_t>(timetable.parts));
  ThreadPool* pool = &pool_;
  if (const auto workers = static_cast<int>(timetable.workers()); workers > pool->threads()) {
    larger_pools_.push_back(std::make_unique<ThreadPool>(workers, let_work_alone));
    pool = larger_pools_.back().get();
  }
  return std::make_unique<ScheduledEngine>(engine_graph_, operators_, std::move(extras),
                                           std::move(timetable), rule_, threads_, *pool);
}

}  // namespace pareto::runtime
