#include "runtime/engines/sample_blocks.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/pause.h"
#include "runtime/kernels/convolution_chain.h"
#include "runtime/kernels/kernel_time.h"
#include "runtime/kernels/packed_concatenation.h"
#include "runtime/kernels/packed_convolution.h"
#include "runtime/kernels/packed_pooling.h"
#include "runtime/kernels/parts.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/register_operator.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

constexpr std::int64_t kPictureRank = 4;

/// Operators of one argument, each of whose results depends on one number alone, or on a window.
constexpr std::array kOfOne{
    "aten::relu",        "aten::relu6",   "aten::hardtanh",   "aten::hardswish",
    "aten::hardsigmoid", "aten::silu",    "aten::sigmoid",    "aten::gelu",
    "aten::leaky_relu",  "aten::elu",     "aten::tanh",       "aten::clamp",
    "aten::avg_pool2d",  "aten::dropout", "aten::max_pool2d", "aten::adaptive_avg_pool2d",
    "aten::batch_norm"};
constexpr std::array kOfTwo{"aten::add", "aten::sub", "aten::mul", "aten::div"};

template <typename List>
bool is_among(const List& list, std::string_view kind) {
  return std::find(list.begin(), list.end(), kind) != list.end();
}

bool is_constant_value(const jit::Value* value) {
  return value->node()->kind() == c10::prim::Constant;
}

/// Finds the operators that treat each sample for itself, in a graph whose tensor arguments are
/// pictures.
class Finder {
 public:
  Finder(const std::shared_ptr<jit::Graph>& graph, std::size_t extras)
      : graph_(*graph), aliases_(graph) {
    const std::size_t end = graph->inputs().size() - extras;
    for (std::size_t i = 1; i < end; ++i) {
      jit::Value* const argument = graph->inputs()[i];
      if (argument->type()->kind() == c10::TypeKind::TensorType) pictures_.insert(argument);
    }
  }

  /// Returns them in their order; none if any of them writes to what others read.
  std::vector<Node*> find() {
    std::vector<Node*> found;
    for (Node* node : graph_.nodes()) {
      if (node->isNondeterministic()) return {};
      if (!treats_samples_apart(node)) continue;
      found.push_back(node);
      pictures_.insert(node->output());
    }
    // A list goes where its only reader goes.
    std::erase_if(found, [&](const Node* node) {
      return node->kind() == c10::prim::ListConstruct &&
             std::none_of(found.begin(), found.end(), [&](const Node* other) {
               return other == node->output()->uses()[0].user;
             });
    });
    return found;
  }

 private:
  bool is_picture(const jit::Value* value) const { return pictures_.contains(value); }

  bool treats_samples_apart(const Node* node) const {
    if (!node->blocks().empty() || node->outputs().size() != 1) return false;
    for (const jit::Value* input : node->inputs()) {
      if (aliases_.hasWriters(input)) return false;
    }
    if (aliases_.hasWriters(node->output())) return false;
    if (node->kind() == kernels::packed_convolution_symbol() ||
        node->kind() == kernels::convolution_chain_symbol()) {
      return is_picture(node->input(0)) &&
             (is_picture(node->input(1)) ||
              (is_constant_value(node->input(1)) && node->input(1)->mustBeNone()));
    }
    if (node->kind() == kernels::packed_pooling_symbol()) return is_picture(node->input(0));
    const std::string_view kind = node->kind().toQualString();
    if (kind == "aten::batch_norm" && trains(node)) return false;
    if (is_among(kOfOne, kind)) return is_picture(node->input(0)) && rest_is_constant(node, 1);
    if (is_among(kOfTwo, kind)) {
      return is_picture(node->input(0)) && is_second(node->input(1)) && rest_is_constant(node, 2);
    }
    if (kind == "aten::mean") return is_picture(node->input(0)) && keeps_samples(node);
    if (node->kind() == c10::prim::ListConstruct) return is_list(node);
    return node->kind() == kernels::concatenation_symbol() &&
           node->input(0)->node()->kind() == c10::prim::ListConstruct &&
           is_list(node->input(0)->node());
  }

  /// Returns whether the operands from `first` on are constants that are the same for all samples.
  static bool rest_is_constant(const Node* node, std::size_t first) {
    const auto rest = node->inputs().slice(first);
    return std::all_of(rest.begin(), rest.end(), [](const jit::Value* value) {
      const auto known = torch::jit::toIValue(value);
      return known && (!known->isTensor() || known->toTensor().dim() < kPictureRank);
    });
  }

  /// Returns whether a batch norm takes its figures from the batch.
  static bool trains(const Node* node) {
    const auto training = torch::jit::toIValue(node->input(5));
    return !training || !training->isBool() || training->toBool();
  }

  /// Another picture, a number, or a constant tensor without samples.
  bool is_second(const jit::Value* value) const {
    if (is_picture(value)) return true;
    const auto known = torch::jit::toIValue(value);
    if (!known) return false;
    return known->isScalar() || (known->isTensor() && known->toTensor().dim() < kPictureRank);
  }

  /// A mean over some of the inner dimensions that leaves a picture.
  static bool keeps_samples(const Node* node) {
    if (!rest_is_constant(node, 1) || node->inputs().size() < 3) return false;
    const auto over = torch::jit::toIValue(node->input(1));
    const auto keeps = torch::jit::toIValue(node->input(2));
    if (!over || !over->isIntList() || !keeps || !keeps->isBool() || !keeps->toBool()) return false;
    const std::vector<std::int64_t> dimensions = over->toIntVector();
    return !dimensions.empty() && std::all_of(dimensions.begin(), dimensions.end(), [](auto one) {
      return one >= 1 && one < kPictureRank;
    });
  }

  bool is_list(const Node* list) const {
    const auto& uses = list->output()->uses();
    return uses.size() == 1 && uses[0].user->kind() == kernels::concatenation_symbol() &&
           !list->inputs().empty() &&
           std::all_of(list->inputs().begin(), list->inputs().end(),
                       [&](const jit::Value* value) { return is_picture(value); });
  }

  jit::Graph& graph_;
  const jit::AliasDb aliases_;
  std::set<const jit::Value*> pictures_;
};

/// Copies operators into a graph of their own.
class Mover {
 public:
  Mover(jit::Graph& graph, const std::vector<Node*>& nodes)
      : graph_(graph), nodes_(nodes), inside_(nodes.begin(), nodes.end()) {}

  /// Fills `body`; the values that come in and that go out are those of the outer graph.
  void fill(jit::Graph& body) {
    for (Node* node : nodes_) {
      for (jit::Value* value : node->inputs()) {
        if (inside_.contains(value->node()) || is_constant_value(value)) continue;
        auto& outer = value->type()->kind() == c10::TypeKind::CapsuleType ? capsules : inputs;
        if (std::find(outer.begin(), outer.end(), value) == outer.end()) outer.push_back(value);
      }
    }
    for (const auto* outer : {&inputs, &capsules}) {
      for (jit::Value* value : *outer) {
        map_[value] = body.addInput();
        map_[value]->setType(value->type());
      }
    }
    for (Node* node : nodes_) {
      Node* const copy = body.insertNode(
          body.createClone(node, [&](jit::Value* value) { return inner(body, value); }));
      map_[node->output()] = copy->output();
    }
    for (Node* node : nodes_) {
      const auto& uses = node->output()->uses();
      const bool leaves = std::any_of(uses.begin(), uses.end(), [&](const jit::Use& use) {
        return !inside_.contains(use.user);
      });
      if (!leaves) continue;
      outputs.push_back(node->output());
      body.registerOutput(map_.at(node->output()));
    }
  }

  /// Puts an operator in the place of all, before the first that reads its results.
  void replace(c10::Symbol symbol) {
    const torch::jit::WithInsertPoint here(first_reader());
    jit::Value* const capsule = graph_.addInput();
    capsule->setType(c10::CapsuleType::get());
    Node* const list = graph_.insertNode(graph_.createList(c10::TensorType::get(), inputs));
    Node* const run = graph_.insertNode(graph_.create(symbol, {list->output(), capsule}));
    run->output()->setType(c10::ListType::ofTensors());
    Node* const unpack = graph_.insertNode(graph_.createListUnpack(run->output(), outputs.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      unpack->outputs()[i]->setType(outputs[i]->type());
      outputs[i]->replaceAllUsesWith(unpack->outputs()[i]);
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) (*node)->destroy();
  }

  std::vector<jit::Value*> inputs;    ///< tensors
  std::vector<jit::Value*> capsules;  ///< inputs of the outer graph
  std::vector<jit::Value*> outputs;

 private:
  jit::Value* inner(jit::Graph& body, jit::Value* value) {
    const auto known = map_.find(value);
    if (known != map_.end()) return known->second;
    Node* const constant =
        body.insertNode(body.createClone(value->node(), [](jit::Value* same) { return same; }));
    return map_[value] = constant->output();
  }

  Node* first_reader() const {
    for (Node* node : graph_.nodes()) {
      if (inside_.contains(node)) continue;
      for (const jit::Value* value : node->inputs()) {
        if (std::find(outputs.begin(), outputs.end(), value) != outputs.end()) return node;
      }
    }
    return graph_.return_node();
  }

  jit::Graph& graph_;
  const std::vector<Node*>& nodes_;
  const std::set<const Node*> inside_;
  std::unordered_map<const jit::Value*, jit::Value*> map_;
};

c10::Symbol samples_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::samples(Tensor[] inputs, Any blocks) -> Tensor[]",
      [](torch::jit::Stack& stack) {
        const auto holder = torch::jit::pop(stack).toCapsule();
        const std::vector<at::Tensor> inputs = torch::jit::pop(stack).toTensorVector();
        stack.emplace_back(static_cast<SampleBlocks&>(*holder).run(inputs));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA);
  return kSymbol;
}

/// Returns the samples of inputs that can be cut into blocks; 1 for others.
std::int64_t batch_of(const std::vector<at::Tensor>& inputs) {
  const std::int64_t batch = inputs[0].dim() == kPictureRank ? inputs[0].size(0) : 1;
  const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const at::Tensor& input) {
    return input.dim() == kPictureRank && input.size(0) == batch;
  });
  return same ? batch : 1;
}

std::shared_ptr<torch::jit::Graph> with_questions(const std::shared_ptr<torch::jit::Graph>& body) {
  insert_questions(*body);
  return body;
}

}  // namespace

SampleBlocks::SampleBlocks(const std::shared_ptr<torch::jit::Graph>& body,
                           std::vector<c10::IValue> extra)
    : code_(with_questions(body), "samples"), extra_(std::move(extra)) {}

bool SampleBlocks::is_whole(std::int64_t batch) const {
  const auto known = blocks_.find({batch, kernels::kernel_threads()});
  return known != blocks_.end() && known->second == batch;
}

std::vector<at::Tensor> SampleBlocks::run(const std::vector<at::Tensor>& inputs) {
  const std::int64_t batch = batch_of(inputs);
  if (batch <= 1) return run_block(inputs, 0, -1);
  const auto key = std::pair(batch, kernels::kernel_threads());
  auto known = blocks_.find(key);
  if (known == blocks_.end()) known = blocks_.emplace(key, fastest_block(inputs)).first;
  return run_by(inputs, known->second);
}

std::vector<at::Tensor> SampleBlocks::run_block(const std::vector<at::Tensor>& inputs,
                                                std::int64_t first, std::int64_t count) const {
  torch::jit::Stack stack;
  stack.reserve(inputs.size() + extra_.size());
  for (const at::Tensor& input : inputs) {
    stack.emplace_back(count < 0 ? input : input.narrow(0, first, count));
  }
  stack.insert(stack.end(), extra_.begin(), extra_.end());
  torch::jit::InterpreterState(code_).run(stack);
  std::vector<at::Tensor> results;
  for (c10::IValue& result : stack) results.push_back(std::move(result).toTensor());
  return results;
}

std::vector<at::Tensor> SampleBlocks::run_by(const std::vector<at::Tensor>& inputs,
                                             std::int64_t block) const {
  const std::int64_t batch = inputs[0].size(0);
  if (block >= batch) return run_block(inputs, 0, -1);
  std::vector<at::Tensor> whole;
  for (std::int64_t first = 0; first < batch; first += block) {
    const std::int64_t count = std::min(block, batch - first);
    const std::vector<at::Tensor> results = run_block(inputs, first, count);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (first == 0) {
        std::vector<std::int64_t> sizes = results[i].sizes().vec();
        sizes[0] = batch;
        whole.push_back(at::empty(sizes, results[i].options(), results[i].suggest_memory_format()));
      }
      whole[i].narrow(0, first, count).copy_(results[i]);
    }
  }
  return whole;
}

/// Returns the size of block that takes the least time for a sample. Each has a run that prepares
/// it, and short ones two more that are timed.
std::int64_t SampleBlocks::fastest_block(const std::vector<at::Tensor>& inputs) const {
  constexpr std::chrono::milliseconds kShort{50};
  const PauseScope none(nullptr);  // a pause would be timed
  const std::int64_t batch = inputs[0].size(0);
  std::set<std::int64_t> sizes{1, batch};
  for (const std::int64_t size : {std::int64_t{kernels::kernel_threads()}, std::int64_t{4}}) {
    if (size < batch) sizes.insert(size);
  }
  const auto time_of = [&](std::int64_t size) {
    const Nanoseconds start = kernels::kernel_time();
    run_block(inputs, 0, size);
    return kernels::kernel_time() - start;
  };
  std::int64_t best = batch;
  double least = std::numeric_limits<double>::max();
  for (const std::int64_t size : sizes) {
    run_block(inputs, 0, size);
    Nanoseconds took = time_of(size);
    if (took < kShort) took = std::min(took, time_of(size));
    const double of_sample = to_nanoseconds(took) / static_cast<double>(size);
    if (of_sample >= least) continue;
    least = of_sample;
    best = size;
  }
  return best;
}

BlockedGraph block_samples(const std::shared_ptr<torch::jit::Graph>& graph,
                           const std::vector<c10::IValue>& extra) {
  // Fewer hand each other nothing.
  constexpr std::ptrdiff_t kFewest = 2;
  auto copy = graph->copy();
  const std::vector<Node*> nodes = Finder(copy, extra.size()).find();
  std::ptrdiff_t layers = 0;
  for (const Node* node : nodes) {
    if (node->kind() == kernels::packed_convolution_symbol()) ++layers;
    if (node->kind() == kernels::convolution_chain_symbol()) layers += kFewest;
  }
  if (layers < kFewest) return {};
  auto body = std::make_shared<torch::jit::Graph>();
  Mover mover(*copy, nodes);
  mover.fill(*body);
  if (mover.outputs.empty() || mover.inputs.empty()) return {};
  const std::size_t first_extra = copy->inputs().size() - extra.size();
  std::vector<c10::IValue> of_body;
  for (const jit::Value* capsule : mover.capsules) {
    if (capsule->offset() < first_extra) return {};
    of_body.push_back(extra[capsule->offset() - first_extra]);
  }
  mover.replace(samples_symbol());
  return {std::move(copy), c10::make_intrusive<SampleBlocks>(body, std::move(of_body))};
}

}  // namespace pareto::runtime
