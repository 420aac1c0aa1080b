// The flags of `train` that say what it writes: checkpoints and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "coordinator/train/checkpoint.h"
#include "coordinator/train/training_setup.h"
#include "core/base/error.h"

namespace pareto::client::commands {

struct TrainFileFlags {
  std::string folder;  ///< folder of --checkpoint
  std::optional<std::int64_t> every;
  std::optional<std::int64_t> keep;
  std::string resume;
  std::vector<std::string> outputs;
  std::string csv;
  std::string report;
  bool json = false;

  void add_to(CLI::App& app);
  /// Checks them before minutes of work. Fails: kInvalidArgument naming the flag, and as
  /// check_writable() does.
  Expected<> check() const;
  /// Takes what was not named from a training that goes on. Returns the flags that this stands for,
  /// as a command line has them.
  std::vector<std::string> complete(const train::TrainingFiles& earlier);
  /// Returns what a checkpoint keeps of them.
  train::TrainingFiles kept() const;
  /// Opens the folder of --checkpoint or --resume; no value: there is none. Fails: as
  /// CheckpointFolder::open() does; kInvalidArgument (it is of an earlier training).
  Expected<std::optional<train::CheckpointFolder>> open_checkpoints() const;
};

}  // namespace pareto::client::commands
