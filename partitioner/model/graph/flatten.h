// The steps from a loaded module's forward graph to the flat form. Sees LibTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/flat.h"
#include "runtime/torch/compat.h"

namespace pareto::model {

/// Puts the bodies of all called methods and functions in place of the calls, each operator under
/// its module's path. graph.inputs()[0] is `self`. Forked calls become calls, and futures the
/// values that they stand for.
void inline_calls(torch::jit::Graph& graph);

/// Replaces constants without dimensions by numbers, if LibTorch's executor does so too. A tracer
/// makes such constants from Python's numbers. As tensors they would decide the result's dtype.
void use_numbers(torch::jit::Graph& graph);

/// Makes an input of every tensor attribute, also in lists, tuples and dicts: one for each tensor,
/// however many names it has. Makes a constant of every other attribute, and drops `self`.
/// Fails: kInvalidArgument (the graph sets attributes, changes lists or dicts that are attributes,
/// or keeps objects that this cannot express).
Expected<std::vector<FlatWeight>> lift_attributes(std::shared_ptr<torch::jit::Graph>& graph,
                                                  const torch::jit::Module& module);

/// The most operators that unrolling loops may add to a graph.
inline constexpr std::int64_t kMostUnrolled = 10'000;
/// Returns the number of steps of a loop that always takes the same number.
std::optional<std::int64_t> constant_steps(const torch::jit::Node* node);
/// Unrolls loops with a constant number of steps, up to kMostUnrolled operators.
void unroll_loops(std::shared_ptr<torch::jit::Graph>& graph);

/// Lets a graph go on as if its checks held. A check that can fail for other data of the same
/// shapes stays, as an operator of its own in front of what it guards.
void remove_checks(torch::jit::Graph& graph);
/// Returns whether the shapes of the results of operators of a kind follow from the data.
bool sizes_follow_data(const std::string& kind);
/// Returns whether operators of a kind read shapes or types of their inputs, and not their
/// elements.
bool asks_for_sizes(const std::string& kind);
/// Returns whether operators of a kind write what they read into their first input, a tensor or
/// a list.
bool writes_to_input(const std::string& kind);

/// Puts values in place of what is read from dicts under constant keys.
void read_dicts(torch::jit::Graph& graph);

/// Puts values in place of the attributes of objects that the graph makes, if nothing else of them
/// is used.
void scatter_objects(torch::jit::Graph& graph);
/// Fails with kInvalidArgument, naming the class, if the graph still makes objects.
Expected<> check_no_objects(torch::jit::Graph& graph);

/// Unrolls constant loops, folds what is constant, removes lists and tuples where that changes
/// nothing; puts those that stay next to their first user.
void simplify(std::shared_ptr<torch::jit::Graph>& graph);

/// Puts operators that return a new tensor in place of those that write to one, where nobody sees
/// the difference; of a simplified graph. `writes`: those whose new tensor would be of the type of
/// the one they write to.
void remove_writes(std::shared_ptr<torch::jit::Graph>& graph,
                   const std::unordered_set<const torch::jit::Node*>& writes);

/// Turns large tensor constants into weights, named "constants.0" … after those that are there.
/// They then travel once, and by digest.
void lift_constants(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

/// Drops weights that nothing reads any more; they are the last inputs, in order.
void drop_unused_weights(torch::jit::Graph& graph, std::vector<FlatWeight>& weights);

}  // namespace pareto::model
