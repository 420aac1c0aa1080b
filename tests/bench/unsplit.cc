#include "tests/bench/benches.h"
#include "tests/bench/frozen_module.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/loaded_model.h"

namespace pareto::bench {

Expected<std::vector<Row>> unsplit(const std::string& name, const std::string& model_name,
                                   runtime::Precision precision, double bar) {
  PARETO_ASSIGN(const auto model, model::zoo::open_model(model_name, {}));
  PARETO_ASSIGN(const auto inputs, model.example_inputs(1, 1));
  PARETO_ASSIGN(FrozenModule frozen, FrozenModule::create(model, inputs));
  PARETO_ASSIGN(const auto runner,
                load_part(model, 0, operators_of(model), {.precision = precision}));
  PARETO_ASSIGN(const auto best, interleaved_minima({[&]() -> Expected<> {
                                                       PARETO_TRY(runner->run(inputs));
                                                       return {};
                                                     },
                                                     [&] { return frozen.run(); }},
                                                    std::chrono::seconds(3), 8));
  const double ours = to_milliseconds(best[0]);
  const double plain = to_milliseconds(best[1]);
  return std::vector<Row>{{name, ours / plain, bar, false,
                           fmt::format("{:.2f} ms ({} {}) / {:.2f} ms frozen fp32, 1 thread", ours,
                                       runner->report().engine, to_string(precision), plain)}};
}

}  // namespace pareto::bench
