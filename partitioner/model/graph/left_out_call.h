// Calls of a model that its graph does without. Free of LibTorch.
#pragma once

#include <string>

namespace pareto::model {

/// A call that a built-in model leaves out, because it returns its input whenever nobody trains: a
/// dropout.
struct LeftOutCall {
  std::string kind;   ///< "aten::dropout"
  std::string scope;  ///< module path: "classifier.0"
  std::string
      value;  ///< name of the value that it reads; those who read that would read its result
};

}  // namespace pareto::model
