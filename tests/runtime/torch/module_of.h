// A module made of its code.
#pragma once

#include <torch/script.h>

#include <string>

namespace pareto::runtime {

/// Returns a module with the methods that the code defines, and no weights.
inline torch::jit::Module module_of(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(code);
  return module;
}

}  // namespace pareto::runtime
