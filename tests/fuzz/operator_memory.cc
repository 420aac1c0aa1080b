#include "tests/fuzz/operator_memory.h"

#include <algorithm>
#include <set>

#include "runtime/torch/map_tensors.h"
#include "runtime/torch/returned_memory.h"

namespace pareto::fuzz {
namespace {

/// Adds the memory of all tensors of a value.
void add_memory(const c10::IValue& value, std::set<const void*>& memory) {
  runtime::map_tensors(value, [&](const at::Tensor& tensor) {
    if (tensor.has_storage() && tensor.storage().nbytes() > 0) {
      memory.insert(tensor.storage().unsafeGetStorageImpl());
    }
    return tensor;
  });
}

}  // namespace

bool returns_given_memory(const c10::FunctionSchema& schema,
                          const std::vector<c10::IValue>& arguments,
                          const std::vector<c10::IValue>& results) {
  if (!runtime::returns_own_memory(c10::Symbol::fromQualString(schema.name()))) return false;
  std::set<const void*> given;
  for (const c10::IValue& argument : arguments) add_memory(argument, given);
  std::set<const void*> returned;
  for (const c10::IValue& result : results) add_memory(result, returned);
  return std::ranges::any_of(returned, [&](const void* memory) { return given.contains(memory); });
}

}  // namespace pareto::fuzz
