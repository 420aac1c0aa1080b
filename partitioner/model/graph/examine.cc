#include "partitioner/model/graph/examine.h"

#include <algorithm>
#include <utility>

#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/example_specs.h"
#include "partitioner/model/graph/flatten.h"
#include "partitioner/model/graph/graph_builder.h"
#include "partitioner/model/graph/graph_runner.h"
#include "partitioner/model/graph/groups.h"
#include "partitioner/model/graph/hazards.h"
#include "partitioner/model/graph/run_errors.h"
#include "partitioner/model/graph/size_runs.h"
#include "partitioner/model/graph/unread_layers.h"

namespace pareto::model {
namespace {

constexpr std::uint64_t kOtherSeed = 1000;
/// Steps from the first batch to the third, each as far as from the first to the second: to 9 after
/// 2 and 3.
constexpr std::int64_t kThirdSteps = 7;

Expected<std::vector<ExampleRun>> run_at_two_batches(GraphRunner& runner, const Flat& flat,
                                                     const Graph& graph,
                                                     const std::vector<InputShape>& shapes,
                                                     const std::vector<std::int64_t>& named) {
  // Of the batch that people gave, or else of the first that was tried.
  std::optional<Error> told;
  const std::int64_t given = batch_of_data(shapes).value_or(0);
  std::vector<Attempt> left = attempts(shapes, named);
  std::vector<std::int64_t> concluded;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::vector<ExampleRun> runs;
    const Attempt batches = left[i];
    for (const std::int64_t batch : batches) {
      auto run = run_at(runner, flat, graph, shapes, batch, kExampleSeed);
      if (!run) {
        if (!told || batch == given) told = run.error();
        // A batch that it holds as a constant comes before the usual ones.
        const auto held = batch_in_error(run.error().message, batch);
        if (held && has_batch(shapes) && std::ranges::count(concluded, *held) == 0) {
          concluded.push_back(*held);
          const std::size_t at = std::max(i + 1, left.size() - kUsualBatches.size());
          left.insert(left.begin() + static_cast<std::ptrdiff_t>(at), Attempt{*held});
        }
        break;
      }
      runs.push_back(*std::move(run));
    }
    if (runs.size() == batches.size()) return runs;
  }
  return tl::unexpected(*told);
}

bool is_number(const ValueSpec& spec) {
  return spec.kind == ValueSpec::Kind::kLeaf &&
         (spec.leaf.is<std::int64_t>() || spec.leaf.is<double>() || spec.leaf.is<bool>());
}

bool reads_any(const Operator& op, const std::vector<bool>& values) {
  return std::ranges::any_of(
      op.inputs, [&](std::int64_t input) { return values[static_cast<std::size_t>(input)]; });
}

/// Returns of each value whether its numbers follow from the data; its sizes may all the same.
std::vector<bool> values_of_data(const Graph& graph) {
  std::vector<bool> of_data(graph.values.size(), false);
  for (const std::int64_t input : graph.inputs) of_data[static_cast<std::size_t>(input)] = true;
  for (const Operator& op : graph.operators) {
    if (!reads_any(op, of_data) || asks_for_sizes(op.kind)) continue;
    const bool writes = writes_to_input(op.kind) && !op.inputs.empty();
    if (writes && !of_data[static_cast<std::size_t>(op.inputs.front())]) {
      // Whatever shares memory with what it writes to holds data from now on.
      return std::vector<bool>(graph.values.size(), true);
    }
    for (const std::int64_t output : op.outputs) of_data[static_cast<std::size_t>(output)] = true;
  }
  return of_data;
}

/// Returns whether sizes may follow from what the data are: of results of such operators, or of
/// what is made with numbers read off the data.
bool may_depend_on_data(const Graph& graph, const std::vector<bool>& of_data) {
  for (const Operator& op : graph.operators) {
    if (op.inner_operators > 0 || (sizes_follow_data(op.kind) && reads_any(op, of_data))) {
      return true;
    }
    for (const std::int64_t output : op.outputs) {
      const auto at = static_cast<std::size_t>(output);
      const ValueSpec& spec = graph.values[at].spec;
      // where() of a condition alone lists where it holds.
      const bool lists = op.kind == "aten::where" && spec.kind == ValueSpec::Kind::kList;
      if (of_data[at] && (lists || is_number(spec))) return true;
    }
  }
  return false;
}

/// Returns whether an operator makes a tensor of integers or bools of the data. Examples of what
/// crosses a cut repeat its elements, which a run without layers does not have.
bool makes_integers(const ExampleRun& run, const Graph& graph, const std::vector<bool>& of_data) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].producer >= 0 && of_data[i] && run.ranges[i]) return true;
  }
  return false;
}

/// Returns made-up values in place of the data, in the data's range.
std::vector<InputShape> without_data(std::vector<InputShape> shapes) {
  for (InputShape& shape : shapes) shape.data.reset();
  return shapes;
}

/// Runs other values through, and names the values that are of another shape then.
Expected<> find_data_dependence(GraphRunner& runner, const Flat& flat, const Graph& graph,
                                const std::vector<InputShape>& shapes, const ExampleRun& first,
                                std::vector<std::string>& reasons) {
  const bool has_data =
      std::ranges::any_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
  auto ran = run_at(runner, flat, graph, without_data(shapes), first.batch, kOtherSeed);
  // It may run on nothing but the data.
  if (!ran && has_data) return {};
  PARETO_ASSIGN(const ExampleRun other, std::move(ran));
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (!reasons[i].empty() || !first.seen[i] || !other.seen[i]) continue;
    const auto joined = join_specs(*first.seen[i], first.batch, *other.seen[i], first.batch);
    if (!joined || tensors_of(*joined) != tensors_of(spec_of(*first.seen[i]))) {
      reasons[i] = "its shape depends on the data";
    }
  }
  return {};
}

/// Values that cannot cross keep their maker and all who read them together.
Ties ties_of_what_stays(const Graph& graph, const std::vector<std::string>& reasons) {
  Ties ties;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const GraphValue& value = graph.values[i];
    if (reasons[i].empty() || (value.users.empty() && !value.is_output)) continue;
    // What is there from the beginning, or until the end, would cross all that lies between.
    std::int64_t last = value.is_output ? static_cast<std::int64_t>(graph.operators.size()) - 1
                                        : value.users.back();
    Tie& tie = ties.emplace_back();
    tie.why = fmt::format("{} would cross: {}", value.name, reasons[i]);
    std::vector<std::int64_t>& tied = tie.operators;
    if (value.producer < 0 || value.is_output) {
      for (; last >= std::max<std::int64_t>(value.producer, 0); --last) tied.push_back(last);
    } else {
      tied = value.users;
      tied.push_back(value.producer);
    }
  }
  return ties;
}

}  // namespace

Expected<Examined> examine_flat(const Flat& flat, const std::vector<InputShape>& shapes,
                                const std::vector<std::int64_t>& batches) {
  PARETO_ASSIGN(Graph graph, build_graph(flat));
  GraphRunner runner(flat.graph);
  const bool skips = may_skip_layers(*flat.graph, shapes);
  runner.skip_layers(skips);
  PARETO_ASSIGN(auto runs, run_at_two_batches(runner, flat, graph, shapes, batches));
  auto reasons = add_specs(runs, graph);
  const std::vector<bool> of_data = values_of_data(graph);
  const bool data_matter = may_depend_on_data(graph, of_data);
  if (skips && (data_matter || makes_integers(runs.back(), graph, of_data))) {
    // Numbers do matter.
    runner.skip_layers(false);
    PARETO_ASSIGN(runs, run_at_two_batches(runner, flat, graph, shapes, batches));
    reasons = add_specs(runs, graph);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    graph.values[static_cast<std::size_t>(graph.inputs[i])].spec.range = shapes[i].range;
  }
  if (data_matter) {
    PARETO_TRY(find_data_dependence(runner, flat, graph, shapes, runs.front(), reasons));
  }
  if (runs.size() > 1 && !treats_samples_alike(graph)) {
    // A size that follows the batch in one way at two may not at a third that is further off: it
    // may be rounded up to a multiple of 4 or 8. The model may refuse that batch.
    const std::int64_t third = runs[0].batch + kThirdSteps * (runs[1].batch - runs[0].batch);
    const auto run = run_at(runner, flat, graph, shapes, third, kExampleSeed);
    if (run) check_specs(*run, graph, reasons);
  }
  PARETO_TRY(add_sizes(runner, flat, shapes, runs.front(), graph, reasons));
  name_makers(graph, reasons);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    graph.operators[i].flops_per_sample =
        runs.front().flops[i] / static_cast<double>(runs.front().batch);
  }
  Examined examined{std::move(graph), {}, std::nullopt};
  if (runs.size() == 1) examined.only_batch = runs.front().batch;
  examined.illegal.resize(examined.graph.operators.size() + 1);
  const auto live = live_everywhere(examined.graph);
  for (std::size_t position = 1; position < examined.graph.operators.size(); ++position) {
    for (const std::int64_t index : live[position]) {
      const auto at = static_cast<std::size_t>(index);
      if (reasons[at].empty()) continue;
      examined.illegal[position] =
          fmt::format("{} would cross: {}", examined.graph.values[at].name, reasons[at]);
      break;
    }
  }
  Ties ties = ties_of_what_stays(examined.graph, reasons);
  try {
    find_hazards(flat, examined.graph, examined.illegal, ties);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "analysing aliases: {}", runtime::first_line(error));
  }
  examined.graph.groups = inseparable_groups(examined.graph, ties);
  examined.graph.ties = std::move(ties);
  const Ties pairs = ties_of_pairs(examined.graph);
  examined.graph.ties.insert(examined.graph.ties.end(), pairs.begin(), pairs.end());
  return examined;
}

}  // namespace pareto::model
