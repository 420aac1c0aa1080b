// Checks that run before an operator of LibTorch. Sees LibTorch: for sources of runtime only.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <cstddef>
#include <functional>
#include <string>

#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Throws if the operator may not run on what the stack ends with.
using StackCheck = std::function<void(const torch::jit::Stack&)>;
/// Returns the check of one operator, by its schema.
using MakeCheck = std::function<StackCheck(const c10::FunctionSchema&)>;
using IsMeant = std::function<bool(const c10::FunctionSchema&)>;

/// Puts the check before those operators of the name that `is_meant` takes.
void put_before(const char* name, const IsMeant& is_meant, const StackCheck& check);

/// Puts its own check before each operator of the name.
void put_before_each(const char* name, const MakeCheck& make);

/// Puts a check of its first argument before each operator of the name. It is not called if that
/// is no tensor.
void put_before_input(const char* name, const std::function<void(const at::Tensor&)>& check);

/// Finds the value of an argument at the end of a stack.
class StackArgument {
 public:
  StackArgument(const c10::FunctionSchema& schema, const std::string& name);

  /// None if the operator has no such argument.
  c10::IValue in(const torch::jit::Stack& stack) const;
  /// Undefined if it is no tensor.
  at::Tensor tensor_in(const torch::jit::Stack& stack) const;

 private:
  std::size_t from_end_ = 0;
};

}  // namespace pareto::runtime
