// Answers to figures: how many are right, and how many are those of the uncut model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "coordinator/evaluation/answers.h"
#include "coordinator/statistics/proportion.h"

namespace pareto::evaluation {

/// Samples whose label is the best class, or among the best five.
struct Accuracy {
  statistics::Proportion top1;
  std::optional<statistics::Proportion>
      top5;  ///< no value means that there are five classes or less
};
Accuracy accuracy_of(std::span<const Answer> answers, std::int64_t classes);

/// Answers next to those of the uncut model to the same samples.
struct Agreement {
  statistics::Proportion best;  ///< samples with the same best class
  statistics::Proportion bits;  ///< samples whose scores are equal bit for bit
};
/// Both are of the same samples in the same order. NaN agrees with nothing.
Agreement agreement_of(std::span<const Answer> uncut, std::span<const Answer> answers);

}  // namespace pareto::evaluation
