// Predicted fronts, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "coordinator/cluster/cluster.h"
#include "partitioner/planning/outlook/outlook.h"

namespace pareto::client {

/// What carries the messages of these devices one after the other.
struct SharedMedium {
  std::string name;                  ///< as the inventory's
  std::vector<std::string> devices;  ///< at least one
};

struct PlanReport {
  std::string model;
  std::vector<std::string> transports;  ///< of which each link has one
  std::vector<std::string> codecs;      ///< of which each link between devices has one
  std::int64_t batch = 1;
  planning::ThirdObjective third = planning::ThirdObjective::kNone;
  std::string preference;     ///< as asked: "balanced"
  bool powers_known = false;  ///< of all devices: then energy is modelled
  bool pairs = false;         ///< whether plans of two devices are among the candidates
  std::vector<planning::Outlook> outlooks;  ///< one for each condition of the network
  std::vector<SharedMedium> media{};
};

/// By name; those of devices that have one.
std::vector<SharedMedium> media_of(const cluster::Cluster& cluster);

/// The front of each condition, and what stands beside it.
std::string write_plan_table(const PlanReport& report, const ReportStyle& style);
/// One document; its schema: tests/golden/plan.schema.json.
std::string write_plan_json(const PlanReport& report);

}  // namespace pareto::client
