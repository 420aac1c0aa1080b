#include "runtime/engines/convolution_chains.h"

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/engines/engine.h"
#include "runtime/kernels/channel_gate.h"
#include "runtime/kernels/convolution_chain.h"
#include "runtime/kernels/packed_convolution.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

bool is_pair(const std::vector<std::int64_t>& pair, std::int64_t both) {
  return pair == std::vector<std::int64_t>{both, both};
}

/// Returns the nodes of the same block that read a value, each once; none if another reads it.
std::vector<Node*> readers_of(const jit::Value* value) {
  std::vector<Node*> readers;
  for (const jit::Use& use : value->uses()) {
    if (use.user->owningBlock() != value->node()->owningBlock()) return {};
    if (std::find(readers.begin(), readers.end(), use.user) == readers.end()) {
      readers.push_back(use.user);
    }
  }
  return readers;
}

Node* only_reader(const jit::Value* value) {
  const std::vector<Node*> readers = readers_of(value);
  return readers.size() == 1 && value->uses().size() == 1 ? readers[0] : nullptr;
}

/// The mean of each channel, as a picture of one pixel.
bool is_mean_of_pixels(const Node* node) {
  const auto constant = [&](std::size_t i) { return torch::jit::toIValue(node->input(i)); };
  if (node->kind() == c10::aten::adaptive_avg_pool2d) {
    const auto sizes = constant(1);
    return sizes && sizes->isIntList() && is_pair(sizes->toIntVector(), 1);
  }
  if (node->kind() != c10::aten::mean || node->inputs().size() != 4) return false;
  const auto over = constant(1);
  const auto keeps = constant(2);
  const auto type = constant(3);
  if (!over || !over->isIntList() || !keeps || !keeps->isBool() || !keeps->toBool()) return false;
  std::vector<std::int64_t> dimensions = over->toIntVector();
  for (std::int64_t& one : dimensions) one += one < 0 ? 4 : 0;
  std::sort(dimensions.begin(), dimensions.end());
  return type && type->isNone() && dimensions == std::vector<std::int64_t>{2, 3};
}

/// The nodes of one block, first to last, and its layers among them.
struct Found {
  std::vector<Node*> layers;
  std::vector<Node*> gate;  ///< mean, two layers, product; or empty
};

class ChainFinder {
 public:
  ChainFinder(const std::shared_ptr<jit::Graph>& graph, const std::vector<c10::IValue>& packed)
      : aliases_(graph),
        packed_(packed),
        first_packed_(graph->inputs().size() - packed.size()),
        graph_(*graph) {}

  std::vector<Found> find() {
    std::vector<Found> found;
    collect(graph_.block(), found);
    return found;
  }

  c10::intrusive_ptr<kernels::PackedConvolution> layer(const Node* node) const {
    const c10::IValue& capsule = packed_.at(node->inputs().back()->offset() - first_packed_);
    return c10::static_intrusive_pointer_cast<kernels::PackedConvolution>(capsule.toCapsule());
  }

 private:
  void collect(jit::Block* block, std::vector<Found>& found) {
    for (Node* node : block->nodes()) {
      for (jit::Block* inner : node->blocks()) collect(inner, found);
      if (auto chain = around(node)) found.push_back(*std::move(chain));
    }
  }

  /// Returns the block of which this node is the depthwise layer.
  std::optional<Found> around(Node* depthwise) const {
    if (!is_layer(depthwise) || adds(depthwise)) return std::nullopt;
    const auto held = layer(depthwise);
    const kernels::ConvolutionSpec& spec = held->spec();
    const auto& weights = held->weight_sizes();
    const bool each_alone = spec.groups > 1 && weights[1] == 1 && weights[0] == spec.groups;
    if (!each_alone || !is_pair(spec.dilation, 1) || weights[2] < 2) return std::nullopt;
    Found chain{{depthwise}, {}};
    Node* const before = depthwise->input(0)->node();
    if (is_layer(before) && !adds(before) && only_reader(before->output()) == depthwise &&
        is_dense(before)) {
      chain.layers.insert(chain.layers.begin(), before);
    }
    const std::vector<Node*> readers = readers_of(depthwise->output());
    Node* last = only_reader(depthwise->output());
    if (readers.size() == 2) last = behind_gate(depthwise, readers, chain);
    if (last == nullptr || !is_pointwise(last) || last->input(0)->node() != end_of(chain)) {
      return std::nullopt;
    }
    chain.layers.push_back(last);
    // The whole block moves down to its last layer: what it reads must still be what it was.
    for (const Node* node : chain.layers) {
      if (aliases_.hasWriters(node->input(0)) || aliases_.hasWriters(node->input(1))) {
        return std::nullopt;
      }
    }
    return chain;
  }

  static const Node* end_of(const Found& chain) {
    return chain.gate.empty() ? chain.layers.back() : chain.gate.back();
  }

  /// Fills the chain's gate, and returns the layer behind it; null if there is none.
  Node* behind_gate(const Node* depthwise, const std::vector<Node*>& readers, Found& chain) const {
    const bool first = is_mean_of_pixels(readers[0]);
    Node* const mean = readers[first ? 0 : 1];
    Node* const product = readers[first ? 1 : 0];
    if (!is_mean_of_pixels(mean) || product->kind() != c10::aten::mul) return nullptr;
    Node* const squeeze = only_reader(mean->output());
    if (squeeze == nullptr || !is_gate_layer(squeeze)) return nullptr;
    Node* const excite = only_reader(squeeze->output());
    if (excite == nullptr || !is_gate_layer(excite)) return nullptr;
    const jit::Value* const picture = depthwise->output();
    const std::int64_t channels = layer(depthwise)->weight_sizes()[0];
    const bool multiplies =
        only_reader(excite->output()) == product &&
        (product->input(0) == excite->output() || product->input(0) == picture) &&
        (product->input(1) == excite->output() || product->input(1) == picture);
    const bool fits = layer(squeeze)->weight_sizes()[1] == channels &&
                      layer(excite)->weight_sizes()[0] == channels &&
                      layer(excite)->weight_sizes()[1] == layer(squeeze)->weight_sizes()[0];
    if (!multiplies || !fits) return nullptr;
    chain.gate = {mean, squeeze, excite, product};
    return only_reader(product->output());
  }

  bool is_layer(const Node* node) const {
    return node->kind() == kernels::packed_convolution_symbol() && !layer(node)->spec().linear &&
           layer(node)->spec().compute == at::kFloat;
  }
  static bool adds(const Node* node) { return !node->input(1)->mustBeNone(); }
  bool is_dense(const Node* node) const {
    return layer(node)->spec().groups == 1 && is_pair(layer(node)->spec().dilation, 1);
  }
  bool is_pointwise(const Node* node) const {
    return is_layer(node) && kernels::ChannelGate::fits(*layer(node));
  }
  bool is_gate_layer(const Node* node) const { return is_pointwise(node) && !adds(node); }

  const jit::AliasDb aliases_;
  const std::vector<c10::IValue>& packed_;
  const std::size_t first_packed_;
  jit::Graph& graph_;
};

/// Erases those of the last `packed.size()` inputs that nothing reads, and their values.
void leave_out_unread(jit::Graph& graph, std::vector<c10::IValue>& packed) {
  for (std::size_t i = packed.size(); i-- > 0;) {
    const std::size_t input = graph.inputs().size() - packed.size() + i;
    if (graph.inputs()[input]->hasUses()) continue;
    graph.eraseInput(input);
    packed.erase(packed.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

void chain_convolutions(const std::shared_ptr<torch::jit::Graph>& graph,
                        std::vector<c10::IValue>& packed) {
  std::vector<Found> found;
  std::vector<kernels::ChainSpec> specs;
  {
    const ChainFinder finder(graph, packed);
    found = ChainFinder(graph, packed).find();
    for (const Found& chain : found) {
      kernels::ChainSpec& spec = specs.emplace_back();
      for (const Node* node : chain.layers) spec.layers.push_back(finder.layer(node));
      if (chain.gate.empty()) continue;
      spec.gate = {finder.layer(chain.gate[1]), finder.layer(chain.gate[2])};
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<Node*>& layers = found[i].layers;
    Node* const first = layers.front();
    Node* const last = layers.back();
    const torch::jit::WithInsertPoint here(last);
    jit::Value* const capsule = graph->addInput();
    capsule->setType(c10::CapsuleType::get());
    Node* const run = graph->insertNode(graph->create(kernels::convolution_chain_symbol(),
                                                      {first->input(0), last->input(1), capsule}));
    run->setScope(first->scope());
    run->s_(kind_attribute(), first->s(kind_attribute()));
    run->output()->setType(last->output()->type());
    last->output()->replaceAllUsesWith(run->output());
    last->destroy();
    for (auto node = found[i].gate.rbegin(); node != found[i].gate.rend(); ++node) {
      (*node)->destroy();
    }
    for (auto node = layers.rbegin() + 1; node != layers.rend(); ++node) (*node)->destroy();
    packed.push_back(c10::IValue::make_capsule(
        c10::make_intrusive<kernels::ConvolutionChain>(std::move(specs[i]))));
  }
  leave_out_unread(*graph, packed);
}

}  // namespace pareto::runtime
