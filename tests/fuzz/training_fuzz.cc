// Any bytes as a checkpoint's manifest: refused, or written and read again as it was. Its parts are
// read without the digest too, which few bytes get past.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "coordinator/train/checkpoint_manifest.h"
#include "coordinator/train/training_json.h"
#include "tests/fuzz/text.h"

namespace pareto::train {
namespace {

using Json = nlohmann::ordered_json;

template <typename Read, typename Write>
void check_part(const Json& json, Read read, Write write) {
  const auto part = read(json);
  if (!part) return;
  const Json written = write(*part);
  const auto again = read(written);
  if (!again || write(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  if (const auto manifest = manifest_from_text(text)) {
    const std::string written = manifest_text(*manifest);
    const auto again = manifest_from_text(written);
    if (!again || manifest_text(*again) != written) std::abort();
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return 0;
  check_part(json.value("setup", json), setup_from_json, setup_json);
  check_part(json.value("progress", json), progress_from_json, progress_json);
  return 0;
}

}  // namespace pareto::train
