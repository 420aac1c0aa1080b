// The operators that a shard may use, and those that it may not. A shard is code of somebody else:
// it may compute, and nothing more.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// Operators of one library that were judged together.
struct OperatorGroup {
  std::string_view library;  ///< "aten" of "aten::relu"
  std::string_view reason;   ///< what they have in common; if refused, why
  std::string_view names;    ///< without the library, parted by blanks
};

/// Returns the operators that everybody's shards may use. They compute their results from their
/// arguments, and check those. Models of torchvision, timm, YOLO and BERT need no others.
std::span<const OperatorGroup> allowed_operators();
/// Returns the operators of LibTorch and torchvision that no shard may use.
std::span<const OperatorGroup> refused_operators();

/// Verdict of the lists on an operator.
struct OperatorReview {
  enum class Verdict { kAllowed, kRefused, kUnknown };
  Verdict verdict = Verdict::kUnknown;
  std::string_view reason;  ///< the group's; empty if it is unknown
};

/// Looks an operator up; `name` has its library: "aten::relu". Threads: any.
OperatorReview review_operator(std::string_view name);

/// Adds an operator of a library that the owner of this machine loaded. Those that a list refuses
/// stay refused. Threads: any.
void allow_operator(const std::string& name);

/// Checks that a shard may use the operator. Fails: kPermission, with the reason and the remedy.
Expected<> check_operator(std::string_view name);

}  // namespace pareto::runtime
