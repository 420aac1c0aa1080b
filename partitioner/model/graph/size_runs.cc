#include "partitioner/model/graph/size_runs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "partitioner/model/graph/layout.h"

namespace pareto::model {
namespace {

// Runs along one size, those at its ends included.
constexpr std::size_t kMostRuns = 14;

using Dims = std::vector<std::int64_t>;

/// Returns all dimensions of a value's tensors, depth first; no value if it could not be seen.
std::optional<Dims> dims_of(const Expected<Value>& seen) {
  if (!seen) return std::nullopt;
  Dims dims;
  for (const Tensor* tensor : tensors_of(*seen)) {
    dims.insert(dims.end(), tensor->shape().begin(), tensor->shape().end());
  }
  return dims;
}

std::int64_t greatest_of(const VaryingSize& size) {
  return size.least + (size.most - size.least) / size.step * size.step;
}

/// Runs a graph along one size after the other, all others at their least.
///
/// Threads: one owner.
class SizeRuns {
 public:
  SizeRuns(GraphRunner& runner, const Flat& flat, const std::vector<InputShape>& shapes,
           const ExampleRun& first, Graph& graph, std::vector<std::string>& reasons)
      : runner_(runner),
        flat_(flat),
        shapes_(shapes),
        first_(first),
        graph_(graph),
        reasons_(reasons) {}

  Expected<> run() {
    for (const VaryingSize& size : graph_.sizes) least_.push_back(size.least);
    PARETO_ASSIGN(base_, run_at_sizes(least_));
    for (std::size_t size = 0; size < graph_.sizes.size(); ++size) PARETO_TRY(follow(size));
    check(first_, nominal_sizes(shapes_));
    return {};
  }

 private:
  /// Dimensions of a value at one size.
  using Seen = std::vector<std::optional<Dims>>;

  Expected<ExampleRun> run_at_sizes(const std::vector<std::int64_t>& sizes) {
    std::size_t reached = 0;
    const std::vector<InputShape> shapes = with_sizes(shapes_, sizes);
    auto run = run_at(runner_, flat_, graph_, shapes, first_.batch, kExampleSeed, &reached);
    if (run) {
      note_layouts(*run);
      return run;
    }
    const std::string refuses =
        reached < graph_.operators.size() ? operator_text(graph_, reached) : "it";
    return fail(
        run.error().code,
        "the sizes of its inputs cannot vary as asked, because {} refuses {}: give one size "
        "({}) or another range; {}",
        refuses, sizes_text(graph_.sizes, sizes), to_text(without_ranges(shapes_)),
        run.error().message);
  }

  /// Keeps of a layout what is the same at all sizes.
  void note_layouts(const ExampleRun& run) {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      graph_.values[i].layout = join_layouts(graph_.values[i].layout, run.layouts[i]);
    }
  }

  /// Finds the dimensions that follow a size.
  Expected<> follow(std::size_t size) {
    const VaryingSize& range = graph_.sizes[size];
    std::map<std::int64_t, ExampleRun> runs;
    const auto run = [&](std::int64_t at) -> Expected<> {
      std::vector<std::int64_t> sizes = least_;
      sizes[size] = at;
      PARETO_ASSIGN(ExampleRun one, run_at_sizes(sizes));
      runs.emplace(at, std::move(one));
      return {};
    };
    const std::int64_t last = greatest_of(range);
    PARETO_TRY(run(last));
    // Dimensions that were alike at all sizes are fitted once.
    std::map<Dims, SizeFit> fits;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) begin(i, range, runs.at(last), fits);
    while (runs.size() + 1 < kMostRuns) {
      std::optional<std::int64_t> next;
      for (const auto& [seen, fit] : fits) {
        next = fit.telling_size();
        if (next) break;
      }
      if (!next || runs.contains(*next)) break;
      PARETO_TRY(run(*next));
      std::map<Dims, SizeFit> finer;
      for (std::size_t i = 0; i < graph_.values.size(); ++i) refine(i, *next, runs, fits, finer);
      fits = std::move(finer);
    }
    for (std::size_t i = 0; i < graph_.values.size(); ++i) conclude(i, size, runs, fits);
    return {};
  }

  /// Returns the dimension of a value at the least size, and at those of the runs, in their order;
  /// empty if it is the same everywhere, or if the value is not the same kind of thing.
  Dims history(std::size_t value, std::size_t dim,
               const std::map<std::int64_t, ExampleRun>& runs) const {
    const auto least = dims_of(base_.seen[value]);
    if (!least || dim >= least->size()) return {};
    Dims seen{(*least)[dim]};
    for (const auto& [at, run] : runs) {
      const auto dims = dims_of(run.seen[value]);
      if (!dims || dims->size() != least->size()) return {};
      seen.push_back((*dims)[dim]);
    }
    const bool is_constant = std::ranges::all_of(seen, [&](auto one) { return one == seen[0]; });
    return is_constant ? Dims{} : seen;
  }

  std::size_t dims_in(std::size_t value) const {
    const auto least = dims_of(base_.seen[value]);
    return least ? least->size() : 0;
  }

  void begin(std::size_t value, const VaryingSize& range, const ExampleRun& last,
             std::map<Dims, SizeFit>& fits) const {
    const auto most = dims_of(last.seen[value]);
    const auto least = dims_of(base_.seen[value]);
    if (!most || !least || most->size() != least->size()) return;
    for (std::size_t dim = 0; dim < least->size(); ++dim) {
      if ((*least)[dim] == (*most)[dim]) continue;
      fits.try_emplace(Dims{(*least)[dim], (*most)[dim]}, range, (*least)[dim], (*most)[dim]);
    }
  }

  /// Carries fits on with what was seen at one more size.
  void refine(std::size_t value, std::int64_t at, const std::map<std::int64_t, ExampleRun>& runs,
              const std::map<Dims, SizeFit>& fits, std::map<Dims, SizeFit>& finer) const {
    for (std::size_t dim = 0; dim < dims_in(value); ++dim) {
      const Dims now = history(value, dim, runs);
      if (now.empty() || finer.contains(now)) continue;
      const auto place = 1 + std::distance(runs.begin(), runs.find(at));
      Dims earlier = now;
      earlier.erase(earlier.begin() + place);
      const auto fit = fits.find(earlier);
      if (fit == fits.end()) continue;
      SizeFit more = fit->second;
      more.see(at, now[static_cast<std::size_t>(place)]);
      finer.emplace(now, std::move(more));
    }
  }

  void conclude(std::size_t value, std::size_t size, const std::map<std::int64_t, ExampleRun>& runs,
                const std::map<Dims, SizeFit>& fits) {
    GraphValue& entry = graph_.values[value];
    const std::string& name = graph_.sizes[size].name;
    for (const auto& [at, run] : runs) {
      const auto dims = dims_of(run.seen[value]);
      if (dims.has_value() == base_.seen[value].has_value() &&
          (!dims || dims->size() == dims_in(value))) {
        continue;
      }
      return refuse(value, fmt::format("it is another kind of value at size {} = {}", name, at));
    }
    const std::vector<TensorSpec> tensors = tensors_of(entry.spec);
    std::vector<SymbolicDim> specs;
    for (const TensorSpec& tensor : tensors) {
      specs.insert(specs.end(), tensor.dims.begin(), tensor.dims.end());
    }
    for (std::size_t dim = 0; dim < dims_in(value); ++dim) {
      const Dims seen = history(value, dim, runs);
      if (seen.empty()) continue;
      const auto fit = fits.find(seen);
      auto found = fit == fits.end() ? std::nullopt : fit->second.simplest();
      entry.sizes.resize(dims_in(value));
      if (dim < specs.size() && specs[dim].per_sample != 0) {
        refuse(value, fmt::format("dimension {} follows the batch and the size {}", dim, name));
      } else if (entry.sizes[dim]) {
        refuse(value, fmt::format("dimension {} follows the size {} and the size {}", dim,
                                  graph_.sizes[entry.sizes[dim]->size].name, name));
      } else if (!found) {
        refuse(
            value,
            fmt::format("dimension {} is {} at size {} = {} and {} at {}, and no multiple "
                        "of it and a constant",
                        dim, seen.front(), name, least_[size], seen.back(), runs.rbegin()->first));
      } else {
        found->size = size;
        entry.sizes[dim] = found;
      }
    }
  }

  /// Checks what was concluded at other sizes, all together.
  void check(const ExampleRun& run, const std::vector<std::int64_t>& sizes) {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const auto dims = dims_of(run.seen[i]);
      const auto least = dims_of(base_.seen[i]);
      if (!dims || !least || dims->size() != least->size()) continue;
      const SizeExpressions& known = graph_.values[i].sizes;
      for (std::size_t dim = 0; dim < dims->size(); ++dim) {
        const bool follows = dim < known.size() && known[dim];
        const std::int64_t expected =
            follows ? known[dim]->at(sizes[known[dim]->size]) : (*least)[dim];
        if ((*dims)[dim] == expected) continue;
        refuse(i, fmt::format("dimension {} is {}, and not {}, at size {} = {}", dim, (*dims)[dim],
                              expected, graph_.sizes.front().name, sizes.front()));
      }
    }
  }

  void refuse(std::size_t value, std::string why) {
    graph_.values[value].sizes.clear();
    if (reasons_[value].empty()) reasons_[value] = std::move(why);
  }

  GraphRunner& runner_;
  const Flat& flat_;
  const std::vector<InputShape>& shapes_;
  const ExampleRun& first_;
  Graph& graph_;
  std::vector<std::string>& reasons_;
  std::vector<std::int64_t> least_;
  ExampleRun base_;
};

}  // namespace

Expected<> add_sizes(GraphRunner& runner, const Flat& flat, const std::vector<InputShape>& shapes,
                     const ExampleRun& first, Graph& graph, std::vector<std::string>& reasons) {
  PARETO_ASSIGN(graph.sizes, varying_sizes(shapes));
  if (graph.sizes.empty()) return {};
  return SizeRuns(runner, flat, shapes, first, graph, reasons).run();
}

}  // namespace pareto::model
