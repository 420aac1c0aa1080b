// Predicted fronts, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/results/record.h"
#include "partitioner/planning/outlook/outlook.h"

namespace pareto::report {

/// A shared channel: it carries the messages of these devices one after the other.
struct SharedMedium {
  std::string name;                  ///< name in the inventory
  std::vector<std::string> devices;  ///< devices, at least one
};

struct PlanReport {
  std::string model;
  std::vector<std::string> transports;  ///< transports of the links; each link has one of them
  /// Codecs of the links between devices; each link has one of them.
  std::vector<std::string> codecs;
  std::int64_t batch = 1;
  search::AlsoObjectives also{};  ///< objectives that plans were searched by
  std::string preference;         ///< preference as asked: "balanced"
  /// Objectives that plans have values of, because every device says what they need.
  search::AlsoObjectives known{};
  bool pairs = false;  ///< true if plans of two devices are among the candidates
  std::vector<planning::Outlook> outlooks;  ///< one for each condition of the network
  std::vector<SharedMedium> media{};
  /// Accuracy of each plan of each outlook's front. Empty: no data set was named.
  std::vector<std::vector<results::AccuracyFigures>> accuracies{};
  std::vector<std::string> left_out{};  ///< a sentence for each plan that is too inaccurate
};

/// Returns the shared channels by name, with those devices that have one.
std::vector<SharedMedium> media_of(const cluster::Cluster& cluster);

/// Writes the front of each condition, and what stands next to it.
std::string write_plan_table(const PlanReport& report, const ReportStyle& style);
/// Writes one document; its schema: tests/golden/plan.schema.json.
std::string write_plan_json(const PlanReport& report);

}  // namespace pareto::report
