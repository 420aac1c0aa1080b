// Writes what a data set was answered by a model and by a pipeline, for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/report/report_writer.h"
#include "coordinator/evaluation/accuracy.h"
#include "core/base/clock.h"
#include "core/plan/plan.h"

namespace pareto::report {

/// Returns "69.76 %".
std::string percent_text(double share);

/// Figures of one that ran the samples.
struct EvaluatedModel {
  evaluation::Accuracy accuracy;
  Nanoseconds time{};
};
struct EvaluatedPipeline {
  plan::Plan plan;  ///< codecs and transports are those that were used
  int window = 1;
  EvaluatedModel figures;
  evaluation::Agreement agreement;
};

struct EvaluationReport {
  std::string model;
  std::string data;          ///< the data set's title
  std::int64_t samples = 0;  ///< samples that were looked at
  std::int64_t of = 0;       ///< samples that there are
  std::int64_t classes = 0;
  std::int64_t batch = 1;
  EvaluatedModel uncut;
  std::optional<EvaluatedPipeline> pipeline;
};

/// Writes figures, each with its exact 95 % interval.
std::string write_accuracy_table(const EvaluationReport& report, const ReportStyle& style);
/// Writes one document; its schema: tests/golden/evaluate.schema.json.
std::string write_accuracy_json(const EvaluationReport& report);

}  // namespace pareto::report
