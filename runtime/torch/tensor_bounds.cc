#include "runtime/torch/tensor_bounds.h"

#include <cstdint>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

/// Returns whether the tensor's first and last element, and so all others, lie within its storage.
bool lies_within_storage(const at::Tensor& tensor) {
  // Other layouts are made of strided tensors, which are no attributes of their own.
  if (!tensor.defined() || !tensor.has_storage()) return true;
  std::int64_t last = tensor.storage_offset();
  std::int64_t elements = 1;
  if (last < 0) return false;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    const std::int64_t size = tensor.size(i);
    if (size == 0) return true;
    std::int64_t span = 0;
    if (size < 0 || tensor.stride(i) < 0 || __builtin_mul_overflow(elements, size, &elements) ||
        __builtin_mul_overflow(size - 1, tensor.stride(i), &span) ||
        __builtin_add_overflow(last, span, &last)) {
      return false;
    }
  }
  const auto room = static_cast<std::uint64_t>(tensor.storage().nbytes()) / tensor.itemsize();
  return static_cast<std::uint64_t>(last) < room;
}

/// Returns whether all tensors in a tree of values, objects included, do so.
bool lie_within_storage(const c10::IValue& value) {
  bool within = true;
  value.visit([&within](const c10::IValue& part) {
    if (part.isTensor()) within = within && lies_within_storage(part.toTensor());
    return !within;  // true: nothing more is visited
  });
  return within;
}

tl::unexpected<Error> too_large(const std::string& what) {
  return fail(ErrorCode::kCorrupt, "{} is larger than its bytes", what);
}

Expected<> check_constants(const torch::jit::Module& module) {
  bool within = true;
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    torch::jit::GraphFunction* const graph = torch::jit::tryToGraphFunction(*function);
    if (graph == nullptr) continue;
    for_each_node(graph->graph()->block(), [&](torch::jit::Node* node) {
      if (node->kind() != c10::prim::Constant) return;
      const auto value = torch::jit::toIValue(node->output());
      within = within && (!value || lie_within_storage(*value));
    });
  }
  if (within) return {};
  return too_large("a constant of its code");
}

}  // namespace

Expected<> check_tensor_bounds(const torch::jit::Module& module) {
  for (const auto& attribute : module.named_attributes(/*recurse=*/true)) {
    if (attribute.value.isModule()) continue;  // its attributes come next, by their own names
    if (!lie_within_storage(attribute.value)) return too_large("the attribute " + attribute.name);
  }
  return check_constants(module);
}

}  // namespace pareto::runtime
