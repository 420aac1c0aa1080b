// Arguments for operators of LibTorch, made from seeds. Sees LibTorch.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace pareto::fuzz {

/// Source of the numbers of one value.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}

  std::uint64_t any();
  /// Returns a number below `count`.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(any() % count); }
  bool with_percent(std::size_t percent) { return below(100) < percent; }
  template <typename Values>
  auto of(const Values& values) {
    return std::data(values)[below(std::size(values))];
  }

 private:
  std::uint64_t state_;
};

/// One seed for what the arguments of a call have in common, and one for each argument. 0 stands
/// for what the operator's example has (operator_examples.h).
using Seeds = std::vector<std::uint64_t>;

/// Makes the arguments of a call: the same ones of the same seeds. Empty: this can make no value of
/// one of their types. Throws: std::exception (LibTorch refuses a tensor).
std::optional<std::vector<c10::IValue>> make_arguments(const c10::FunctionSchema& schema,
                                                       const Seeds& seeds);

/// Returns a line for each argument: its name and value, without the numbers of tensors.
std::string to_text(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& arguments);

}  // namespace pareto::fuzz
