// The engine that "auto" chose next to every engine by its name.
#include <algorithm>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/loaded_model.h"

namespace pareto::bench {
namespace {

constexpr Nanoseconds kEngineTurn = std::chrono::milliseconds(80);
constexpr Nanoseconds kEngineTime = std::chrono::seconds(5);
constexpr std::size_t kLeastEngineRounds = 7;
constexpr double kFarBehind = 1.3;

struct Contestant {
  std::string engine;
  std::unique_ptr<runtime::ShardRunner> runner;
  std::vector<double> turns{};  ///< milliseconds of a run
};

/// Returns the median of the runs in the second half of a turn. In the first half, threads of the
/// engine before still look for work.
Expected<double> turn_of(runtime::ShardRunner& runner, const std::vector<Value>& inputs) {
  const SteadyClock clock;
  std::vector<double> later;
  const TimePoint begin = clock.now();
  for (TimePoint now = begin; now - begin < kEngineTurn || later.size() < 2;) {
    PARETO_TRY(runner.run(inputs));
    const TimePoint end = clock.now();
    if (2 * (end - begin) > kEngineTurn) later.push_back(to_milliseconds(end - now));
    now = end;
  }
  return statistics::median(later);
}

Expected<Row> auto_engine_at(const std::string& name, const model::Model& model, int threads,
                             int batch) {
  PARETO_ASSIGN(const auto inputs, model.example_inputs(batch, 1));
  std::vector<std::string> engines{"auto"};
  engines.insert(engines.end(), runtime::engine_names().begin(), runtime::engine_names().end());
  std::vector<Contestant> contestants;
  for (const std::string& engine : engines) {
    runtime::RunnerOptions options;
    options.engine = engine;
    options.threads = threads;
    options.batch = batch;
    PARETO_ASSIGN(auto runner, load_part(model, 0, operators_of(model), options));
    contestants.push_back({engine, std::move(runner)});
  }
  const auto take_turns = [&]() -> Expected<> {
    for (Contestant& one : contestants) {
      PARETO_ASSIGN(one.turns.emplace_back(), turn_of(*one.runner, inputs));
    }
    return {};
  };
  const auto best = [&] {
    return std::min_element(contestants.begin() + 1, contestants.end(),
                            [](const Contestant& a, const Contestant& b) {
                              return statistics::median(a.turns) < statistics::median(b.turns);
                            });
  };
  PARETO_TRY(take_turns());
  const double limit = kFarBehind * best()->turns[0];
  contestants.erase(std::remove_if(contestants.begin() + 1, contestants.end(),
                                   [&](const Contestant& one) { return one.turns[0] > limit; }),
                    contestants.end());
  const SteadyClock clock;
  const TimePoint begin = clock.now();
  while (contestants[0].turns.size() < kLeastEngineRounds || clock.now() - begin < kEngineTime) {
    PARETO_TRY(take_turns());
  }
  const Contestant& kept = contestants[0];
  const Contestant& fastest = *best();
  std::vector<double> ratios;
  for (std::size_t i = 0; i < kept.turns.size(); ++i) {
    ratios.push_back(kept.turns[i] / fastest.turns[i]);
  }
  return Row{fmt::format("{}b{}", name, batch), statistics::median(ratios), 1.02, false,
             fmt::format("auto chose {}: {:.2f} ms / {:.2f} ms of {}, {} rounds",
                         kept.runner->report().engine, statistics::median(kept.turns),
                         statistics::median(fastest.turns), fastest.engine, ratios.size())};
}

}  // namespace

Expected<std::vector<Row>> auto_engine(const std::string& name, const std::string& model_name,
                                       int threads) {
  PARETO_ASSIGN(const auto model, model::zoo::open_model(model_name, {}));
  std::vector<Row> rows;
  for (const int batch : {1, 2, 4, 8, 16}) {
    PARETO_ASSIGN(rows.emplace_back(), auto_engine_at(name, model, threads, batch));
  }
  return rows;
}

}  // namespace pareto::bench
