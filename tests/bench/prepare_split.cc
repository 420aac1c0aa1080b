#include <algorithm>
#include <chrono>
#include <future>

#include "core/base/file.h"
#include "tests/bench/benches.h"
#include "tests/bench/loaded_model.h"
#include "tests/bench/traced_file.h"

namespace pareto::bench {
namespace {

// The first of them reads the file from the disk.
constexpr int kPreparations = 3;

struct Prepared {
  Nanoseconds open{};  ///< until the model is examined
  Nanoseconds all{};
  std::string cut;
};

Expected<Prepared> prepare(const std::filesystem::path& file) {
  const SteadyClock clock;
  const TimePoint began = clock.now();
  model::zoo::ModelOptions options;
  PARETO_ASSIGN(options.input, model::parse_input_shapes("3x224x224"));
  PARETO_ASSIGN(const auto model, model::zoo::open_model(file.string(), options));
  Prepared prepared;
  prepared.open = clock.now() - began;
  PARETO_ASSIGN(const auto chosen, model::select_split_points(model, "percent:50"));
  const auto& point = model.split_points()[chosen.front()];
  PARETO_ASSIGN(const auto prefix_shard, model::emit_shard(model, 0, point.position));
  PARETO_ASSIGN(const auto suffix_shard,
                model::emit_shard(model, point.position, operators_of(model)));
  const auto load = [&](const plan::Shard& shard) {
    return runtime::ShardRunner::load(
        shard, [&](const Digest& digest) { return model.weight(digest); }, {});
  };
  // Devices load at the same time.
  auto loading = std::async(std::launch::async, load, std::cref(prefix_shard));
  const auto suffix = load(suffix_shard);
  const auto prefix = loading.get();
  PARETO_TRY(prefix);
  PARETO_TRY(suffix);
  prepared.all = clock.now() - began;
  prepared.cut = point.name;
  return prepared;
}

}  // namespace

Expected<std::vector<Row>> prepare_split(const std::string& name, const std::string& model,
                                         std::chrono::milliseconds most) {
  PARETO_ASSIGN(const auto folder, TemporaryFolder::create("pareto-bench"));
  PARETO_ASSIGN(const auto file, traced_file(model, folder.path()));
  Prepared best{Nanoseconds::max(), Nanoseconds::max(), {}};
  for (int i = 0; i < kPreparations; ++i) {
    PARETO_ASSIGN(const Prepared one, prepare(file));
    if (one.all < best.all) best = one;
  }
  return std::vector<Row>{{name, to_nanoseconds(best.all) / to_nanoseconds(most), 1, false,
                           fmt::format("{:.0f} ms to ready at {}, {:.0f} ms of them to open the "
                                       "file, then both parts at once, best of {}, 1 thread each",
                                       to_milliseconds(best.all), best.cut,
                                       to_milliseconds(best.open), kPreparations)}};
}

}  // namespace pareto::bench
