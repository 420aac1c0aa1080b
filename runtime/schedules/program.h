// A schedule that a user wrote: rules in a YAML or JSON file, which FORMAT.md specifies. Samples
// are in configs/schedules.
//
//   file ──program_from_yaml──▶ Program ──to_json──▶ device ──make_program──▶ Timetable
//
// Free of LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::schedules {

constexpr std::size_t kMostProgramBytes = 256 << 10;
constexpr std::size_t kMostUnitRules = 256;
constexpr std::size_t kMostProgramWorkers = 64;
constexpr int kMostParts = 64;

/// The tag of operators that no rule marks, and of units of a rule without tags.
constexpr const char* kOtherTag = "other";

/// A rule that marks operators as units. Without `join` each module, each operator or each sequence
/// that it finds is a unit.
struct UnitRule {
  std::string name{};                    ///< shown in messages; may be empty
  std::vector<std::string> modules{};    ///< patterns of module paths; empty: anywhere
  std::vector<std::string> except{};     ///< patterns of module paths that it leaves out
  std::vector<std::string> operators{};  ///< patterns of operator kinds; empty: all kinds
  std::vector<std::string> sequence{};   ///< patterns of kinds of operators that read one another
  bool join = false;                ///< operators that it finds next to each other are one unit
  std::vector<std::string> tags{};  ///< never empty after reading
  std::string worker{};             ///< the only worker that runs its units; empty: by tags
  bool operator==(const UnitRule&) const = default;
};

/// When and where a batch is split.
struct SplitRule {
  int parts = 1;                    ///< micro-batches of a batch, at most
  int at_least = 1;                 ///< samples of the smallest part
  std::vector<std::string> only{};  ///< tags of the units that run in parts; empty: all units do
  bool operator==(const SplitRule&) const = default;
};

/// Says which of two units that are ready is taken first.
struct OrderRule {
  enum class By { kTag, kPart, kPath };
  By by = By::kPath;
  std::string tag{};      ///< units with this tag come first, if `by` is kTag
  bool reversed = false;  ///< the later part, or the shortest path, comes first
  bool operator==(const OrderRule&) const = default;
};

struct ProgramWorker {
  std::string name{};
  std::vector<std::string> takes{};  ///< tags, the most welcome first; empty: everything
  bool operator==(const ProgramWorker&) const = default;
};

struct Program {
  std::vector<UnitRule> units{};
  SplitRule split{};
  std::vector<OrderRule> order{};        ///< the first that tells two units apart decides
  std::vector<ProgramWorker> workers{};  ///< empty: as many as the device has, for everything
  std::uint64_t most_memory = 0;         ///< bytes of values alive at one time; 0: any
  bool operator==(const Program&) const = default;
};

/// Reads a file's text. `file` is its name, for messages. Fails: kInvalidArgument, with file, line
/// and remedy of everything that is wrong.
Expected<Program> program_from_yaml(const std::string& text, const std::string& file);

/// Returns the canonical JSON of a program, in one line. program_from_yaml() reads it, too.
std::string to_json(const Program& program);

/// Reads bytes that came from elsewhere: JSON with the same keys. Fails: kInvalidArgument.
Expected<Program> program_from_json(const std::string& text);

}  // namespace pareto::schedules
