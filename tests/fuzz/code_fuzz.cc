// Any bytes as the code of a TorchScript archive: the checks that come before LibTorch's parser
// end, whatever it is.
#include <cstdint>

#include "runtime/archive/class_bodies.h"
#include "runtime/archive/code_calls.h"
#include "runtime/archive/code_nesting.h"
#include "runtime/archive/definition_chain.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string code = pareto::fuzz::text_of(data, size);
  (void)pareto::runtime::check_nesting(code);
  (void)pareto::runtime::check_class_bodies(code);
  pareto::runtime::DefinitionChain chain;
  chain.add("code/__torch__.py", code);
  chain.add("code/__torch__/m.py", code);
  (void)chain.check();
  pareto::runtime::CodeCalls calls;
  if (calls.add(code)) (void)calls.check(code);
  (void)pareto::runtime::check_pickled_classes(code);
  return 0;
}
