// Convolutions with their weights packed once for oneDNN, a following relu inside them, on pictures in channels-last layout.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <optional>
#include <stdexcept>

#include "core/runtime/engine.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// The arguments of one convolution that can be packed, all constants.
struct Convolution {
  at::Tensor weight;
  c10::optional<at::Tensor> bias;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
  std::int64_t groups = 1;
};

template <typename T>
bool constant(Value* value, T& target) {
  const auto known = torch::jit::toIValue(value);
  if (!known) return false;
  target = known->to<T>();
  return true;
}

/// aten::conv2d(input, weight, bias, stride, padding, dilation, groups) or
/// aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, …).
std::optional<Convolution> as_convolution(Node* node) {
  const bool general = node->kind() == c10::aten::_convolution;
  if (!general && node->kind() != c10::aten::conv2d) return std::nullopt;
  if (node->input(4)->type()->kind() == c10::TypeKind::StringType) return std::nullopt;
  Convolution conv;
  const bool known = constant(node->input(1), conv.weight) && constant(node->input(2), conv.bias) &&
                     constant(node->input(3), conv.stride) &&
                     constant(node->input(4), conv.padding) &&
                     constant(node->input(5), conv.dilation) &&
                     constant(node->input(general ? 8 : 6), conv.groups);
  if (!known || conv.weight.dim() != 4) return std::nullopt;
  bool transposed = false;
  if (general && (!constant(node->input(6), transposed) || transposed)) return std::nullopt;
  return conv;
}

/// The relu that alone reads this convolution, or null.
Node* following_relu(Node* node) {
  if (node->output()->uses().size() != 1) return nullptr;
  Node* user = node->output()->uses()[0].user;
  const bool relu = user->kind() == c10::aten::relu || user->kind() == c10::aten::relu_;
  return relu && user->owningBlock() == node->owningBlock() ? user : nullptr;
}

class Packer {
 public:
  explicit Packer(torch::jit::Graph& graph)
      : graph_(graph),
        prepack_(
            c10::Dispatcher::singleton().findSchema({"mkldnn_prepacked::conv2d_prepack", ""})) {
    if (!prepack_) throw std::runtime_error("this LibTorch has no packed convolutions");
  }

  std::vector<c10::IValue> pack_all() {
    std::vector<Node*> nodes;
    collect(graph_.block(), nodes);
    for (Node* node : nodes) replace(node, *as_convolution(node));
    if (packed_.empty()) throw std::runtime_error("there is no convolution to pack");
    return std::move(packed_);
  }

 private:
  static void collect(torch::jit::Block* block, std::vector<Node*>& nodes) {
    for (Node* node : block->nodes()) {
      if (as_convolution(node)) nodes.push_back(node);
      for (torch::jit::Block* inner : node->blocks()) collect(inner, nodes);
    }
  }

  void replace(Node* node, const Convolution& conv) {
    Node* relu = following_relu(node);
    // The size is a hint for the layout of the packed weights; others run as well.
    const std::vector<std::int64_t> size{1, conv.weight.size(1) * conv.groups, 56, 56};
    torch::jit::Stack stack{conv.weight,   conv.bias,   conv.stride, conv.padding,
                            conv.dilation, conv.groups, size,        relu ? "relu" : "none"};
    prepack_->callBoxed(stack);
    packed_.push_back(stack.at(0));
    Value* packed = graph_.addInput();
    packed->setType(packed_.back().type());
    Node* run = graph_.create(c10::Symbol::fromQualString("mkldnn_prepacked::conv2d_run"),
                              {node->input(0), packed});
    run->insertBefore(node);
    Node* last = relu ? relu : node;
    last->output()->replaceAllUsesWith(run->output());
    if (relu) relu->destroy();
    node->destroy();
  }

  torch::jit::Graph& graph_;
  c10::optional<c10::OperatorHandle> prepack_;
  std::vector<c10::IValue> packed_;
};

}  // namespace

std::unique_ptr<Engine> build_prepacked_engine(const LoadedModule& loaded) {
  if (!loaded.device.is_cpu()) throw std::runtime_error("packed convolutions run on the CPU only");
  const torch::jit::Module frozen = freeze_shard(loaded);
  auto graph = frozen.get_method("run").graph();
  std::vector<c10::IValue> packed = Packer(*graph).pack_all();
  torch::jit::EliminateDeadCode(graph);
  return std::make_unique<GraphEngine>(graph, frozen._ivalue(), std::move(packed),
                                       Layout::kChannelsLast, loaded.precision);
}

}  // namespace pareto::runtime
