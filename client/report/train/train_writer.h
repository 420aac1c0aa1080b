// A training that was run: lines while it runs, table, JSON, CSV and page at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/train/training_run.h"
#include "coordinator/train/training_setup.h"
#include "coordinator/train/training_state.h"
#include "core/base/error.h"

namespace pareto::report {

/// A training as it is shown.
struct TrainReport {
  train::TrainingSetup setup;
  train::TrainingProgress progress;
  std::vector<std::string> devices{};  ///< one for each stage
  train::TrainingEnd end = train::TrainingEnd::kDone;
  std::string reason{};                ///< why it ended early; empty: it is done
  std::string checkpoint{};            ///< path of the last one; empty: there is none
  std::vector<std::string> outputs{};  ///< files of the trained model
};

/// Returns the line above the lines of epochs, and the line of one epoch; columns are aligned.
std::string train_line_titles();
std::string train_epoch_line(const train::EpochRecord& epoch, std::int64_t epochs);

/// Returns what stands behind the lines of the epochs: the end, and where the time of a step went.
std::string write_train_summary(const TrainReport& report, const ReportStyle& style);

/// JSON documents of one line each, ended by a newline.
std::string train_start_json(const TrainReport& report);
std::string train_step_json(const train::StepReport& step);
std::string train_epoch_json(const train::EpochRecord& epoch);
std::string train_checkpoint_json(const std::string& path);
std::string train_end_json(const TrainReport& report);

/// Returns a row for each epoch, with a line of titles.
std::string train_csv(const TrainReport& report);

/// Returns an offline page with the curves of loss and accuracy. Fails: kInternal.
Expected<std::string> train_page(const TrainReport& report);

}  // namespace pareto::report
