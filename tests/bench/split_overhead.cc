#include <algorithm>

#include "tests/bench/benches.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/loaded_model.h"

namespace pareto::bench {
namespace {

constexpr std::size_t kPoints = 4;
// Where in physical memory a load comes to lie makes a run some percent faster or slower, for as
// long as it is loaded.
constexpr int kLoads = 3;

struct Halves {
  std::string point;
  std::unique_ptr<runtime::ShardRunner> prefix;
  std::unique_ptr<runtime::ShardRunner> suffix;
};

/// kPoints split points, evenly spread over those that `auto` offers.
Expected<std::vector<Halves>> load_halves(const model::Model& model,
                                          const runtime::RunnerOptions& options) {
  PARETO_ASSIGN(const auto offered, model::select_split_points(model.split_points(), "auto"));
  const std::size_t count = std::min(kPoints, offered.size());
  std::vector<Halves> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& point = model.split_points()[offered[(i + 1) * offered.size() / (count + 1)]];
    PARETO_ASSIGN(auto prefix, load_part(model, 0, point.position, options));
    PARETO_ASSIGN(auto suffix, load_part(model, point.position, operators_of(model), options));
    all.push_back({point.name, std::move(prefix), std::move(suffix)});
  }
  return all;
}

}  // namespace

Expected<std::vector<Row>> split_overhead(const std::string& name, const std::string& model_name,
                                          std::int64_t batch, double bar) {
  PARETO_ASSIGN(const auto model, model::zoo::open_model(model_name, {}));
  PARETO_ASSIGN(const auto inputs, model.example_inputs(batch, 1));
  std::vector<std::string> points;
  std::vector<Nanoseconds> best;
  const runtime::RunnerOptions options{.batch = batch};
  for (int load = 0; load < kLoads; ++load) {
    PARETO_ASSIGN(const auto whole, load_part(model, 0, operators_of(model), options));
    PARETO_ASSIGN(const auto halves, load_halves(model, options));
    std::vector<std::function<Expected<>()>> contestants{[&]() -> Expected<> {
      PARETO_TRY(whole->run(inputs));
      return {};
    }};
    points.clear();
    for (const Halves& half : halves) {
      points.push_back(half.point);
      contestants.emplace_back([&half, &inputs]() -> Expected<> {
        PARETO_ASSIGN(auto boundary, half.prefix->run(inputs));
        PARETO_TRY(half.suffix->run(std::move(boundary)));
        return {};
      });
    }
    PARETO_ASSIGN(const auto minima, interleaved_minima(contestants, std::chrono::seconds(3), 8));
    best.resize(minima.size(), Nanoseconds::max());
    std::ranges::transform(best, minima, best.begin(), std::ranges::min);
  }
  const auto worst = std::max_element(best.begin() + 1, best.end());
  const double split = to_milliseconds(*worst);
  const double uncut = to_milliseconds(best[0]);
  return std::vector<Row>{
      {name, split / uncut, bar, false,
       fmt::format("{:.2f} ms at {} / {:.2f} ms, worst of {}, each the best of {} loads", split,
                   points[static_cast<std::size_t>(worst - best.begin()) - 1], uncut, points.size(),
                   kLoads)}};
}

}  // namespace pareto::bench
