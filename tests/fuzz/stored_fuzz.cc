// Any bytes as what our programs have stored for later: refused, or read, written and read again as
// it was.
//
//   input = the kind (kStoredReaders), then its bytes; of rows a value for each column, one a line
#include <SQLiteCpp/SQLiteCpp.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/commands/validated_batches.h"
#include "client/flags/remembered_inputs.h"
#include "coordinator/data/cifar10.h"
#include "coordinator/load/answer_log.h"
#include "coordinator/results/sqlite_rows.h"
#include "coordinator/results/stored_json.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/text.h"

namespace pareto {
namespace {

using fuzz::check;

void read_details(const std::string& text, bool has_split) {
  // g++ 12 takes what an empty optional holds for uninitialised if it lies on the stack.
  const auto read = [&](const std::string& from) {
    auto trial = std::make_unique<results::TrialRecord>();
    if (has_split) trial->split.emplace();
    return results::details_from_json(from, *trial) ? std::move(trial) : nullptr;
  };
  const auto trial = read(text);
  if (!trial) return;
  const std::string written = results::details_to_json(*trial);
  const auto again = read(written);
  check(again && results::details_to_json(*again) == written);
}
void read_whole(const std::string& text) { read_details(text, false); }
void read_split(const std::string& text) { read_details(text, true); }

template <typename Read, typename Write>
void read_and_write(const std::string& text, Read read, Write write) {
  const auto value = read(text);
  if (!value) return;
  const std::string written = write(*value);
  const auto again = read(written);
  check(again && write(*again) == written);
}

void read_devices(const std::string& text) {
  read_and_write(text, results::devices_from_json, results::devices_to_json);
}
void read_coordinator(const std::string& text) {
  read_and_write(text, results::coordinator_from_json, results::coordinator_to_json);
}
void read_passes(const std::string& text) {
  read_and_write(text, results::passes_from_json, results::passes_to_json);
}
void read_inputs(const std::string& text) {
  read_and_write(text, client::inputs_from_text, client::inputs_text);
}

void read_validated(const std::string& text) {
  const auto json = client::commands::validated_by(text, "2.1");
  for (const char* part : {"cuts", "trained"}) {
    static_cast<void>(client::commands::validated_batches_in(json, part, "0-5"));
  }
}

void read_log(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  const auto state = load::read_answer_log(file.path());
  if (!state) return;
  check(state->bytes == text.size());
  if (state->term) check(state->term->term > 0 && !state->term->lease.empty());
  for (const auto& [number, answer] : state->answers) {
    check(answer.number == number && !answer.begins && !answer.ends);
  }
}

/// Makes a row of the columns: of a line that begins with i or d the number behind it, of one that
/// begins with n no value, else its text.
SQLite::Statement row_of(const SQLite::Database& database, const std::vector<std::string>& columns,
                         std::string_view lines) {
  std::string query = "SELECT ";
  for (const std::string& column : columns) {
    query += (query.size() > 7 ? ", ? AS " : "? AS ") + column;
  }
  SQLite::Statement row(database, query);
  for (int i = 1; i <= static_cast<int>(columns.size()); ++i) {
    const std::string line(lines.substr(0, lines.find('\n')));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    std::int64_t whole = 0;
    double number = 0;
    const char* const end = line.data() + line.size();
    if (line.starts_with('i')) {
      std::from_chars(line.data() + 1, end, whole);
      row.bind(i, whole);
    } else if (line.starts_with('d')) {
      std::from_chars(line.data() + 1, end, number);
      row.bind(i, number);
    } else if (line.starts_with('n')) {
      row.bind(i);
    } else {
      row.bind(i, line);
    }
  }
  check(row.executeStep());
  return row;
}

void read_run(const std::string& lines) {
  const SQLite::Database database(":memory:");
  SQLite::Statement row = row_of(
      database,
      {"devices", "passes", "coordinator", "id", "model", "model_digest", "model_weight_bytes",
       "started", "finished", "command_line", "options", "software_version", "seed", "note", "tag"},
      lines);
  static_cast<void>(results::run_from(row));
}

void read_trial(const std::string& lines) {
  const SQLite::Database database(":memory:");
  std::vector<std::string> columns;
  std::string all = results::columns_without_details() + ", ";
  for (std::size_t at = 0; at < all.size(); at = all.find(", ", at) + 2) {
    columns.push_back(all.substr(at, all.find(", ", at) - at));
  }
  SQLite::Statement row = row_of(database, columns, lines);
  static_cast<void>(results::trial_from(row));
}

/// A folder of CIFAR-10 whose test pictures are a file in memory.
std::string cifar10_folder(const std::string& file) {
  static const std::string kFolder = [] {
    char name[] = "/tmp/pareto-fuzz-XXXXXX";
    check(::mkdtemp(name) != nullptr);
    return std::string(name);
  }();
  const std::string link = kFolder + "/test_batch.bin";
  ::unlink(link.c_str());
  check(::symlink(file.c_str(), link.c_str()) == 0);
  return kFolder;
}

void read_pictures(const std::string& bytes) {
  const fuzz::MemoryFile file(bytes.data(), bytes.size());
  const auto set = data::open_cifar10(cifar10_folder(file.path()), {.part = data::Part::kTest});
  if (!set) return;
  for (std::int64_t i = 0; i < std::min<std::int64_t>((*set)->size(), 4); ++i) {
    const auto sample = (*set)->sample(i);
    check(sample && sample->label >= 0 && sample->label < (*set)->classes());
  }
}

constexpr std::array kStoredReaders{
    read_whole,        // 0
    read_split,        // 1
    read_devices,      // 2
    read_coordinator,  // 3
    read_passes,       // 4
    read_inputs,       // 5
    read_validated,    // 6
    read_log,          // 7
    read_run,          // 8
    read_trial,        // 9
    read_pictures,     // 10
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kStoredReaders[data[0] % kStoredReaders.size()](fuzz::text_of(data + 1, size - 1));
  return 0;
}

}  // namespace pareto
