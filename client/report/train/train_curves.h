// Curves of a training.
#pragma once

#include <string>

#include "client/report/train/train_writer.h"

namespace pareto::report {

/// Draws the loss by steps, of training and of validation, and next to it the accuracy by epochs.
std::string train_curves_svg(const TrainReport& report);

}  // namespace pareto::report
