#include "core/runtime/archive/archive_check.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "core/runtime/archive/code_nesting.h"
#include "core/runtime/archive/definition_chain.h"
#include "core/runtime/archive/pickle_nesting.h"

namespace pareto::runtime {
namespace {

/// The name as LibTorch compares it when it looks for a record.
std::string lower_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
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
    PARETO_TRY(with_context(code ? check_nesting(text) : check_value_nesting(text), "{}", name));
    if (code) chain.add(name, text);
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
