#include "runtime/torch/map_devices.h"

#include <vector>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;

bool names_device(const Node* node) {
  const bool is_constant = node->kind() == c10::prim::Constant &&
                           node->output()->type()->kind() == c10::TypeKind::DeviceObjType;
  return is_constant || node->kind() == c10::Symbol::fromQualString("aten::device") ||
         node->kind() == c10::Symbol::fromQualString("aten::cuda");
}

void map_devices(torch::jit::Graph& graph, c10::Device device) {
  std::vector<Node*> nodes;
  for_each_node(graph.block(), [&](Node* node) {
    if (names_device(node)) nodes.push_back(node);
  });
  for (Node* node : nodes) {
    const torch::jit::WithInsertPoint here(node);
    torch::jit::Value* fresh = graph.insertConstant(device);
    if (node->output()->type()->kind() == c10::TypeKind::TensorType) {  // x.cuda()
      fresh = graph.insert(c10::aten::to, {node->input(0), fresh, c10::IValue(), c10::IValue(false),
                                           c10::IValue(false)});
    }
    node->output()->replaceAllUsesWith(fresh);
    node->destroy();
  }
}

}  // namespace

void map_devices(const torch::jit::Module& module, c10::Device device) {
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    if (torch::jit::GraphFunction* graph = torch::jit::tryToGraphFunction(*function)) {
      map_devices(*graph->graph(), device);
    }
  }
}

}  // namespace pareto::runtime
