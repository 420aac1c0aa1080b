// A training as it goes on: a bar on stderr, lines of epochs or of JSON on stdout.
#pragma once

#include <cstdint>
#include <filesystem>

#include "client/command.h"
#include "client/commands/progress.h"
#include "client/report/train/train_writer.h"
#include "coordinator/train/training_run.h"

namespace pareto::client::commands {

/// An observer that shows each step, validation and epoch.
///
/// Threads: one owner.
class TrainProgress final : public train::TrainingObserver {
 public:
  TrainProgress(Context& context, bool json, std::int64_t epochs);
  /// Shows what is trained, and the epochs that are done.
  void begin(const report::TrainReport& report);
  void on_step(const train::StepReport& step) override;
  void on_validation(std::int64_t done, std::int64_t all) override;
  void on_epoch(const train::EpochRecord& epoch) override;
  void on_checkpoint(const std::filesystem::path& path) override;
  void clear() { progress_.clear(); }

 private:
  Context& context_;
  const bool json_;
  const std::int64_t epochs_;
  Progress progress_;
  std::int64_t epoch_ = 0;  ///< the one under way, counted from 0
};

}  // namespace pareto::client::commands
