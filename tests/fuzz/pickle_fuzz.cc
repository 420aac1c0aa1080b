// Any bytes as pickles: of a checkpoint, which are read, and of a TorchScript archive, which are
// checked before LibTorch reads them.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "partitioner/model/zoo/pickle.h"
#include "runtime/archive/pickle_check.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = pareto::fuzz::text_of(data, size);
  std::string_view rest = text;
  // Pickle after pickle, as the older form of checkpoints has them.
  while (const auto item = pareto::model::zoo::read_pickle(rest)) {
    if (*item == nullptr || (*item)->depth > 64) std::abort();
  }
  (void)pareto::runtime::check_values(text);
  return 0;
}
