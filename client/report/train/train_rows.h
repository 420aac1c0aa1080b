// Texts and tables of a training that a terminal and a page show alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/report/cell_table.h"
#include "client/report/train/train_writer.h"

namespace pareto::report {

/// Returns "resnet18 on cifar10:/data".
std::string train_title(const TrainReport& report);
/// Returns "3 of 10 epochs, 118 steps; stopped: …".
std::string train_end_text(const TrainReport& report);
/// Returns "81.3 %"; "" without a value.
std::string share_text(const std::optional<double>& share);
std::string loss_figure(double loss);

/// Returns sums over all steps.
train::StepSums all_steps(const TrainReport& report);

/// Returns whether the validation's loss, which is cross-entropy, is of the training's kind.
bool has_validation_loss(const TrainReport& report);
CellTable train_epochs_table(const TrainReport& report);
/// Returns a row for each stage with its times of a mean step.
CellTable train_stages_table(const TrainReport& report);
CellTable train_settings_table(const TrainReport& report);

}  // namespace pareto::report
