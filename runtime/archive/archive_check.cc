#include "runtime/archive/archive_check.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/archive/class_bodies.h"
#include "runtime/archive/code_calls.h"
#include "runtime/archive/code_nesting.h"
#include "runtime/archive/code_words.h"
#include "runtime/archive/definition_chain.h"
#include "runtime/archive/memory_reader.h"
#include "runtime/archive/pickle_check.h"
#include "runtime/archive/zip_records.h"

namespace pareto::runtime {
namespace {

Expected<> check_code(std::string_view code) {
  PARETO_TRY(check_nesting(code));
  return check_class_bodies(code);
}

/// Returns the folder of the records that a pickle's tensors are in: "data/" of "data.pkl".
std::string folder_of(const std::string& pickle) {
  return pickle.substr(0, pickle.rfind('.')) + "/";
}

/// A record of an archive as the check needs it.
struct Record {
  std::string name;
  std::uint64_t size = 0;  ///< bytes
};
using Records = std::vector<Record>;
/// Returns the bytes of the record of that index.
using ReadRecord = std::function<Expected<std::string>(std::size_t index)>;

using Check = std::function<Expected<>(const std::string& name, std::string_view text)>;

bool is_code(const std::string& name) { return lower_case(name).ends_with(".py"); }

/// "data.pkl", "constants.pkl", "….debug_pkl"; the tensors are in files of their own.
bool is_pickle(const std::string& name) { return lower_case(name).ends_with("pkl"); }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns whether LibTorch reads tensors of that pickle. It compares names without the size of
/// letters.
bool is_read(const std::string& pickle) {
  return lower_case(pickle) == "data.pkl" || lower_case(pickle) == "constants.pkl";
}

/// Checks what a pickle takes for granted of the records with its tensors' elements:
/// - They are as large: LibTorch reads that many bytes of them. It reads a key to its first zero
///   byte and finds names without the size of letters, so that a record must have the very name.
/// - Settings of convolutions are some that it can compute with.
Expected<> check_claims(const PickleClaims& claims, const std::string& pickle,
                        const Records& records, const ReadRecord& read) {
  for (const auto& [key, bytes] : claims.bytes) {
    if (bytes == 0) continue;
    const std::string name = folder_of(pickle) + key;
    const auto found = std::ranges::find(records, name, &Record::name);
    if (found == records.end() || !is_number(key)) {
      return fail(ErrorCode::kCorrupt, "a tensor of {} bytes has no record in {}", bytes,
                  folder_of(pickle));
    }
    if (found->size < bytes) {
      return fail(ErrorCode::kCorrupt, "a tensor of {} bytes has {} ({})", bytes, found->size,
                  name);
    }
    const auto settings = claims.settings.find(key);
    if (settings == claims.settings.end()) continue;
    PARETO_ASSIGN(const std::string record,
                  read(static_cast<std::size_t>(found - records.begin())));
    PARETO_TRY(check_convolution_settings(record, settings->second));
  }
  return {};
}

/// Checks what could end the process as LibTorch reads it. `others` checks each record too.
Expected<> check_records(const Records& records, const ReadRecord& read, const Check& others) {
  DefinitionChain chain;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string& name = records[i].name;
    if (!is_code(name) && !is_pickle(name)) continue;
    PARETO_ASSIGN(const std::string text, read(i));
    if (is_code(name)) {
      PARETO_TRY(with_context(check_code(text), "{}", name));
      chain.add(name, text);
    } else {
      PARETO_ASSIGN(const PickleClaims claims, with_context(check_values(text), "{}", name));
      if (is_read(name)) {
        PARETO_TRY(with_context(check_claims(claims, name, records, read), "{}", name));
      }
    }
    PARETO_TRY(with_context(others(name, text), "{}", name));
  }
  return chain.check();
}

/// Takes anything.
Expected<> accept(const std::string& /*name*/, std::string_view /*text*/) { return {}; }

/// Checks an archive that only LibTorch reads. It tells a record's size with its bytes alone.
Expected<> check_with_reader(std::string_view archive) {
  caffe2::serialize::PyTorchStreamReader reader(std::make_shared<MemoryReader>(archive));
  Records records;
  for (const std::string& name : reader.getAllRecords()) {
    const bool is_text = is_code(name) || is_pickle(name);
    records.push_back({name, is_text ? 0 : std::get<1>(reader.getRecord(name))});
  }
  const auto read = [&](std::size_t index) -> Expected<std::string> {
    const auto [bytes, size] = reader.getRecord(records[index].name);
    return std::string(static_cast<const char*>(bytes.get()), size);
  };
  return check_records(records, read, accept);
}

Expected<> check_list(const std::vector<ZipRecord>& list, const Check& others) {
  Records records;
  for (const ZipRecord& record : list) records.push_back({record.name, record.size});
  const auto read = [&](std::size_t index) { return read_zip_record(list[index]); };
  return check_records(records, read, others);
}

/// Returns a record's name without the archive's own, which LibTorch cuts off.
std::string without_root(const std::string& name) {
  return name.substr(std::min(name.find('/'), name.size() - 1) + 1);
}

/// Checks that LibTorch's writer made a record of that name.
Expected<> check_record_name(const std::string& name) {
  const auto numbered_in = [&](std::string_view folder) {
    return name.starts_with(folder) && is_number(std::string_view(name).substr(folder.size()));
  };
  const bool known =
      name == "data.pkl" || name == "constants.pkl" || name == "version" || name == "byteorder" ||
      name.starts_with(".data/") || numbered_in("data/") || numbered_in("constants/") ||
      (name.starts_with("code/") && (name.ends_with(".py") || name.ends_with(".py.debug_pkl")));
  if (known) return {};
  return fail(ErrorCode::kPermission, "no shard has a record \"{}\"", name);
}

/// The bytes by which LibTorch takes a file for one of its format for phones, and their place. It
/// reads such a file without any check. An archive whose first record is further behind has room.
constexpr std::string_view kPhoneFormat = "PTMF";
constexpr std::size_t kPhoneFormatPlace = 4;

/// Reads the list of a shard's records, and checks their names, sizes and checksums. Names have no
/// root.
Expected<std::vector<ZipRecord>> read_shard_list(std::string_view archive) {
  PARETO_ASSIGN(auto records, read_zip_list(archive));
  if (records.empty()) return fail(ErrorCode::kCorrupt, "it is an archive of nothing");
  const std::string root = records[0].name;
  for (ZipRecord& record : records) {
    const bool same =
        record.name.substr(0, record.name.find('/')) == root.substr(0, root.find('/'));
    if (!same) return fail(ErrorCode::kCorrupt, "its records are of two archives");
    record.name = without_root(record.name);
    PARETO_TRY(check_record_name(record.name));
    if (record.compressed || is_code(record.name) || is_pickle(record.name)) continue;
    PARETO_TRY(read_zip_record(record));
  }
  return records;
}

}  // namespace

Expected<> check_archive(std::string_view archive) {
  if (archive.substr(std::min(archive.size(), kPhoneFormatPlace)).starts_with(kPhoneFormat)) {
    return fail(
        ErrorCode::kCorrupt,
        "it is a file of LibTorch's FlatBuffers format for phones (\"{}\" at byte {}), which "
        "is not read here; save the model with torch.jit.save",
        kPhoneFormat, kPhoneFormatPlace);
  }
  if (auto list = read_zip_list(archive)) {
    for (ZipRecord& record : *list) record.name = without_root(record.name);
    return check_list(*list, accept);
  }
  try {
    return check_with_reader(archive);
  } catch (const std::exception&) {
    // It is no archive, or a damaged one: LibTorch refuses it, and says why.
    return {};
  }
}

Expected<> check_shard_archive(std::string_view archive) {
  PARETO_ASSIGN(const std::vector<ZipRecord> list, read_shard_list(archive));
  std::uint64_t code_bytes = 0;
  CodeCalls calls;
  for (const ZipRecord& record : list) {
    if (!is_code(record.name)) continue;
    code_bytes += record.size;
    if (code_bytes > kMostCodeBytes) {
      return fail(ErrorCode::kCorrupt, "its code has more than {} MiB", kMostCodeBytes >> 20);
    }
    PARETO_ASSIGN(const std::string code, read_zip_record(record));
    PARETO_TRY(with_context(calls.add(code), "{}", record.name));
  }
  return check_list(list, [&](const std::string& name, std::string_view text) -> Expected<> {
    return is_code(name) ? calls.check(text) : check_pickled_classes(text);
  });
}

Expected<> hide_debug_records(std::span<char> archive) {
  return hide_records(archive, ".debug_pkl");
}

}  // namespace pareto::runtime
