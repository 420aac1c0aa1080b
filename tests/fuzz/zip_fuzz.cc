// Any bytes as the archive of a shard: each record that is read has the size that the list says.
#include <cstdint>
#include <cstdlib>

#include "runtime/archive/zip_records.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string archive = pareto::fuzz::text_of(data, size);
  const auto list = pareto::runtime::read_zip_list(archive);
  if (!list) return 0;
  for (const auto& record : *list) {
    const auto content = pareto::runtime::read_zip_record(record);
    if (content && content->size() != record.size) std::abort();
  }
  return 0;
}
