// Predicted front under one condition of the network: plans of a search that can be deployed, and
// the figures shown next to them.
//
//   SettingsCosts ──search──▶ front ──choose──▶ the plan to take            Outlook
//       ──▶ client/report/plan_writer.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/cost/replay.h"
#include "partitioner/planning/inputs/cut_space.h"
#include "partitioner/planning/outlook/choose.h"
#include "partitioner/planning/outlook/settings_costs.h"
#include "partitioner/planning/search/device_choices.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::planning {

/// A plan under its window.
struct PlannedPoint {
  plan::Plan plan;
  OperatingPoint point;
  Evaluation evaluation;
  /// Outcome under the same window; no value means that the jitter of some of its devices is not
  /// known.
  std::optional<ReplayOutcome> with_jitter{};
  Placement placement{};  ///< the plan's, among the cost inputs
  /// Settings of each device, as numbers of SettingsCosts::settings.
  search::Assignment assignment{};
};

/// A plan that was looked at by itself, at the windows that are best for it.
struct Candidate {
  struct Point {
    OperatingPoint point;
    std::optional<std::size_t> beaten_by;  ///< plan of the front that beats it
  };
  plan::Plan plan;  ///< its window left open
  Evaluation evaluation;
  std::vector<Point> points;
};

struct Outlook {
  std::string condition;
  bool cut_anywhere = false;  ///< true if the model may be cut anywhere; see CutSpace::anywhere()
  std::string why_in_order;   ///< reason why it is cut in order; see CutChoice
  std::vector<PlannedPoint> front;
  /// Plan of the front that was chosen; no value means that no plan keeps the limits.
  std::optional<std::size_t> chosen;
  std::vector<Candidate> candidates;
};

struct OutlookOptions {
  const search::SearchStrategy* search = nullptr;
  search::AlsoObjectives also{};  ///< next to latency and throughput
  Limits limits;
  Preference preference{};
  std::int64_t batch = 1;
  /// If true, plans of two devices are candidates, in either order and by every way between them.
  /// The source's and the sink's links take the way of the shortest time. Plans of one device
  /// always are candidates.
  bool pairs = false;
  bool replicas = true;  ///< true if devices may take turns with the whole model
};

/// Searches the front of all plans whose devices have any of the settings, and makes plans of it.
/// `costs` are those of the space. Fails: as search::assignments() and the search do.
Expected<Outlook> look_ahead(const CutSpace& space, const SettingsCosts& costs,
                             const OutlookOptions& options, std::string condition);

}  // namespace pareto::planning
