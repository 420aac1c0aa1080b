// The flags for how a shard is computed: --engine, --precision, --threads, --max-error, --schedule.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/error.h"
#include "core/control/shard_settings.h"

namespace pareto::client {

/// runtime::kDefaultMaxError as people write it.
inline constexpr const char* kDefaultMaxErrorText = "5%";
/// Parses "5%" or "0.05" as a share, above 0 and at most 1; 0 for the default. Fails:
/// kInvalidArgument naming --max-error.
Expected<double> parse_max_error(const std::string& text);

/// Adds --engine alone.
void add_engine(CLI::App& app, std::string& engine);

/// The flags for how a shard is run, one way.
struct RunnerFlags {
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;  ///< 0: as each device is set
  std::string max_error{kDefaultMaxErrorText};
  std::string schedule{plan::kSequential};  ///< a name, or the file of a program

  void add_to(CLI::App& app);
  /// Returns the flags as settings of a stage. Fails: kInvalidArgument naming the flag.
  Expected<plan::StageSettings> settings() const;
};

/// The flags of RunnerFlags, of which --threads and --schedule take several values.
struct RunnerLists {
  std::string engine = "auto";
  std::string precision = "fp32";
  std::string threads = "0";  ///< 0: as each device is set
  std::string max_error{kDefaultMaxErrorText};
  std::string schedules{plan::kSequential};

  /// Adds the flags. `use` says what is done with several values: "of lists every combination …".
  void add_to(CLI::App& app, const std::string& use);
  /// Returns every combination, threads by threads; none twice. Fails: kInvalidArgument naming the
  /// flag.
  Expected<std::vector<plan::StageSettings>> settings() const;
};

/// The ways in which shards are profiled: every combination of those named, separated by commas.
struct SettingLists {
  std::string batches = "1";
  std::string threads = "0";  ///< 0: as each device is set
  std::string precisions = "fp32";
  std::string max_error{kDefaultMaxErrorText};
  std::string schedules{plan::kSequential};

  void add_to(CLI::App& app);
  /// Returns all settings on that engine, batch by batch, in each threads by threads; none twice.
  /// Fails: kInvalidArgument naming the flag.
  Expected<std::vector<control::ShardSettings>> read(const std::string& engine) const;
};

/// Checks an option that takes one value, for CLI::Option::check. Returns what is wrong with
/// several values separated by commas; "" for one.
std::string check_one_value(const std::string& text);

}  // namespace pareto::client
