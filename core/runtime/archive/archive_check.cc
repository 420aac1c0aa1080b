#include "core/runtime/archive/archive_check.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <tuple>

#include "core/runtime/archive/class_bodies.h"
#include "core/runtime/archive/code_nesting.h"
#include "core/runtime/archive/definition_chain.h"
#include "core/runtime/archive/pickle_check.h"

namespace pareto::runtime {
namespace {

/// Returns the name as LibTorch compares it when it looks for a record.
std::string lower_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Expected<> check_code(std::string_view code) {
  PARETO_TRY(check_nesting(code));
  return check_class_bodies(code);
}

/// Returns the folder of the records that a pickle's tensors are in: "data/" of "data.pkl".
std::string folder_of(const std::string& pickle) {
  return pickle.substr(0, pickle.rfind('.')) + "/";
}

/// Checks that records are as large as tensors take for granted: LibTorch reads that many bytes of
/// them.
Expected<> check_records_of(const ClaimedBytes& claimed, const std::string& folder,
                            caffe2::serialize::PyTorchStreamReader& reader) {
  for (const auto& [key, bytes] : claimed) {
    const std::string name = folder + key;
    if (bytes == 0 || !reader.hasRecord(name)) continue;
    const std::size_t size = std::get<1>(reader.getRecord(name));
    if (size >= bytes) continue;
    return fail(ErrorCode::kCorrupt, "a tensor of {} bytes has {} ({})", bytes, size, name);
  }
  return {};
}

Expected<> check_records(std::istream& archive) {
  caffe2::serialize::PyTorchStreamReader reader(&archive);
  DefinitionChain chain;
  for (const std::string& name : reader.getAllRecords()) {
    const bool code = lower_case(name).ends_with(".py");
    // "data.pkl", "constants.pkl", "….debug_pkl"; the tensors are in files of their own.
    if (!code && !lower_case(name).ends_with("pkl")) continue;
    const auto [bytes, size] = reader.getRecord(name);
    const std::string_view text(static_cast<const char*>(bytes.get()), size);
    if (code) {
      PARETO_TRY(with_context(check_code(text), "{}", name));
      chain.add(name, text);
    } else {
      PARETO_ASSIGN(const ClaimedBytes claimed, with_context(check_values(text), "{}", name));
      PARETO_TRY(with_context(check_records_of(claimed, folder_of(name), reader), "{}", name));
    }
  }
  return chain.check();
}

}  // namespace

Expected<> check_archive(std::istream& archive) {
  Expected<> checked;
  try {
    checked = check_records(archive);
  } catch (const std::exception&) {
    // It is no archive, or a damaged one: LibTorch refuses it, and says why.
  }
  archive.clear();
  archive.seekg(0);
  return checked;
}

}  // namespace pareto::runtime
