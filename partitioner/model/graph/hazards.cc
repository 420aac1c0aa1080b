#include "partitioner/model/graph/hazards.h"

#include <algorithm>
#include <optional>

#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/split_points.h"
#include "runtime/torch/written_weights.h"

namespace pareto::model {
namespace {

using torch::jit::AliasDb;
using torch::jit::Node;
namespace jit = torch::jit;

/// A copy of the graph in which inputs and weights have memory of their own.
struct Copy {
  explicit Copy(const Flat& flat) : graph(flat.graph->copy()), operators(operators_of(*graph)) {
    for (std::size_t i = 0; i < graph->inputs().size(); ++i) {
      jit::Value* value = graph->inputs()[i];
      if (value->type()->kind() == c10::TypeKind::TensorType) value = runtime::cloned(value);
      (i < flat.model_inputs ? values : weights).push_back(value);
    }
    for (Node* node : operators) {
      values.insert(values.end(), node->outputs().begin(), node->outputs().end());
    }
  }

  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<Node*> operators;
  std::vector<jit::Value*> values;  // as Graph::values
  std::vector<jit::Value*> weights;
};

/// The value that one operator writes in place.
struct Write {
  std::size_t position = 0;
  std::vector<bool> values;
  std::vector<bool> weights;
  std::vector<std::size_t> filled;  ///< values, lists and dicts that it adds to or takes from
};

class Finder {
 public:
  explicit Finder(const Flat& flat) : copy_(flat), aliases_(copy_.graph) {}

  std::vector<Write> run() {
    std::vector<Write> writes;
    for (std::size_t position = 0; position < copy_.operators.size(); ++position) {
      Node* node = copy_.operators[position];
      const auto written = written_by(node);
      if (written.empty()) continue;
      Write write;
      write.position = position;
      for (jit::Value* value : copy_.values) write.values.push_back(hits(node, written, value));
      for (std::size_t i = 0; i < copy_.values.size(); ++i) {
        jit::Value* value = copy_.values[i];
        if (is_container(value) && aliases_.writesToAlias(node, {value})) write.filled.push_back(i);
      }
      for (jit::Value* weight : copy_.weights) write.weights.push_back(hits(node, written, weight));
      writes.push_back(std::move(write));
    }
    return writes;
  }

 private:
  std::vector<jit::Value*> written_by(Node* node) const {
    std::vector<jit::Value*> candidates = outer_inputs(node);
    for (torch::jit::Block* block : node->blocks()) {
      for_each_node(block, [&](Node* inner) {
        candidates.insert(candidates.end(), inner->outputs().begin(), inner->outputs().end());
      });
    }
    std::erase_if(candidates,
                  [&](jit::Value* value) { return !aliases_.writesToAlias(node, {value}); });
    return candidates;
  }

  bool hits(Node* node, const std::vector<jit::Value*>& written, jit::Value* value) const {
    if (aliases_.writesToAlias(node, {value})) return true;
    // A list, tuple or dict is hit where a tensor that it may hold is.
    return value->type()->kind() != c10::TypeKind::TensorType &&
           std::any_of(written.begin(), written.end(),
                       [&](jit::Value* other) { return aliases_.mayContainAlias(value, other); });
  }

  Copy copy_;
  AliasDb aliases_;
};

/// `live`: the values that cross each position.
void forbid_shared_memory(const Graph& graph, const std::vector<std::vector<std::int64_t>>& live,
                          const Write& write, std::vector<std::string>& reasons) {
  for (std::size_t position = 1; position <= write.position; ++position) {
    if (!reasons[position].empty()) continue;
    std::size_t tensors = 0;
    std::vector<std::string> names;
    for (const std::int64_t index : live[position]) {
      const auto at = static_cast<std::size_t>(index);
      if (!write.values[at]) continue;
      tensors += tensors_of(graph.values[at].spec).size();
      names.push_back(graph.values[at].name);
    }
    if (tensors < 2) continue;
    reasons[position] = fmt::format("{} cross and may share memory that {} writes later",
                                    fmt::join(names, ", "), operator_text(graph, write.position));
  }
}

void forbid_unfilled(const Graph& graph, const Write& write, std::vector<std::string>& reasons,
                     Ties& ties) {
  const auto last = static_cast<std::int64_t>(write.position);
  for (const std::size_t index : write.filled) {
    const GraphValue& value = graph.values[index];
    if (value.producer < 0 || value.producer >= last) continue;
    const std::string why = fmt::format("{} would cross before {} fills it", value.name,
                                        operator_text(graph, write.position));
    for (std::int64_t position = value.producer + 1; position <= last; ++position) {
      std::string& reason = reasons[static_cast<std::size_t>(position)];
      if (reason.empty()) reason = why;
    }
    ties.push_back({{value.producer, last}, why});
  }
}

std::string shared_state(const Graph& graph, const Write& write, std::size_t weight) {
  return fmt::format("weight {} is used on both sides and {} writes it in place",
                     graph.weights[weight].name, operator_text(graph, write.position));
}

void forbid_split_state(const Graph& graph, const Write& write, std::vector<std::string>& reasons) {
  for (std::size_t weight = 0; weight < write.weights.size(); ++weight) {
    if (!write.weights[weight]) continue;
    std::size_t first = write.position;
    std::size_t last = write.position;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const auto& used = graph.operators[i].weights;
      if (std::find(used.begin(), used.end(), static_cast<std::int64_t>(weight)) == used.end()) {
        continue;
      }
      first = std::min(first, i);
      last = std::max(last, i);
    }
    for (std::size_t position = first + 1; position <= last; ++position) {
      if (!reasons[position].empty()) continue;
      reasons[position] = shared_state(graph, write, weight);
    }
  }
}

void run_after(Graph& graph, std::size_t before, std::size_t op) {
  std::vector<std::int64_t>& after = graph.operators[op].after;
  const auto at = std::ranges::lower_bound(after, static_cast<std::int64_t>(before));
  if (at == after.end() || *at != static_cast<std::int64_t>(before)) {
    after.insert(at, static_cast<std::int64_t>(before));
  }
}

bool touches(const Operator& op, const Write& write) {
  const auto any = [](const std::vector<std::int64_t>& used, const std::vector<bool>& written) {
    return std::ranges::any_of(used, [&](std::int64_t index) {
      const auto at = static_cast<std::size_t>(index);
      return at < written.size() && written[at];  // nothing writes packed weights
    });
  };
  return any(op.inputs, write.values) || any(op.outputs, write.values) ||
         any(op.weights, write.weights);
}

/// Keeps the order of turns: all that touches the memory does so before the write or after it, as
/// in the graph.
void keep_turns(Graph& graph, const Write& write) {
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    if (i == write.position || !touches(graph.operators[i], write)) continue;
    run_after(graph, std::min(i, write.position), std::max(i, write.position));
  }
}

void keep_turns_of_state(Graph& graph) {
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    if (!graph.operators[i].uses_random) continue;
    if (last) run_after(graph, *last, i);
    last = i;
  }
}

/// The operators that have run whenever this one has, itself among them.
std::vector<bool> run_with(const std::vector<std::vector<std::int64_t>>& needed, std::int64_t op) {
  std::vector<bool> run(needed.size(), false);
  std::vector<std::int64_t> next{op};
  while (!next.empty()) {
    const auto at = static_cast<std::size_t>(next.back());
    next.pop_back();
    if (run[at]) continue;
    run[at] = true;
    next.insert(next.end(), needed[at].begin(), needed[at].end());
  }
  return run;
}

/// Ties operators. If the later of two names of the memory can be there while the earlier one is
/// still needed, both would cross a cut between there and the write.
void tie_shared_memory(const Graph& graph, const Write& write, Ties& ties) {
  const auto position = static_cast<std::int64_t>(write.position);
  std::vector<std::size_t> names;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (write.values[i] && graph.values[i].producer < position) names.push_back(i);
  }
  const auto tensors = [&](std::size_t i) { return tensors_of(graph.values[i].spec).size(); };
  std::optional<std::vector<std::vector<std::int64_t>>> needed;
  std::size_t inputs = 0;
  for (const std::size_t later : names) {
    const std::int64_t producer = graph.values[later].producer;
    if (producer < 0) {
      inputs += tensors(later);
      continue;
    }
    if (!needed) needed = needed_by_each(graph);
    const std::vector<bool> run = run_with(*needed, producer);
    const auto crosses_with = [&](std::size_t earlier) {
      const GraphValue& value = graph.values[earlier];
      if (earlier == later || value.producer > producer || tensors(earlier) == 0) return false;
      return value.is_output || std::ranges::any_of(value.users, [&](std::int64_t user) {
               return !run[static_cast<std::size_t>(user)];
             });
    };
    if (tensors(later) > 1 || (tensors(later) == 1 && std::ranges::any_of(names, crosses_with))) {
      ties.push_back({{producer, position},
                      fmt::format("{} and others cross and may share memory that {} writes later",
                                  graph.values[later].name, operator_text(graph, write.position))});
    }
  }
  if (inputs < 2) return;
  Tie& all = ties.emplace_back();
  all.why = fmt::format("inputs of the model cross and may share memory that {} writes later",
                        operator_text(graph, write.position));
  for (std::int64_t op = 0; op <= position; ++op) all.operators.push_back(op);
}

void tie_state(const Graph& graph, const Write& write, Ties& ties) {
  for (std::size_t weight = 0; weight < write.weights.size(); ++weight) {
    if (!write.weights[weight]) continue;
    Tie& tie = ties.emplace_back();
    tie.why = shared_state(graph, write, weight);
    std::vector<std::int64_t>& users = tie.operators;
    users.push_back(static_cast<std::int64_t>(write.position));
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      if (std::ranges::count(graph.operators[i].weights, static_cast<std::int64_t>(weight)) > 0) {
        users.push_back(static_cast<std::int64_t>(i));
      }
    }
  }
}

}  // namespace

void find_written_weights(Flat& flat) {
  for (const jit::Value* tensor : runtime::written_tensors(*flat.graph)) {
    const bool is_weight =
        tensor->node() == flat.graph->param_node() && tensor->offset() >= flat.model_inputs;
    if (is_weight) flat.weights[tensor->offset() - flat.model_inputs].is_written = true;
  }
}

void find_hazards(const Flat& flat, Graph& graph, std::vector<std::string>& reasons, Ties& ties) {
  const std::vector<Write> writes = Finder(flat).run();
  const auto live = live_everywhere(graph);
  for (const Write& write : writes) {
    forbid_unfilled(graph, write, reasons, ties);
    forbid_shared_memory(graph, live, write, reasons);
    forbid_split_state(graph, write, reasons);
    const bool keeps_state =
        std::find(write.weights.begin(), write.weights.end(), true) != write.weights.end();
    if (keeps_state) graph.operators[write.position].uses_random = true;
    keep_turns(graph, write);
  }
  keep_turns_of_state(graph);
  for (const Write& write : writes) {
    tie_shared_memory(graph, write, ties);
    tie_state(graph, write, ties);
  }
}

}  // namespace pareto::model
