// Disturbances of a run from outside: other processes on its machines, other pipelines on its
// devices.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::results {

/// Others take so much of a machine's processors that figures vary.
inline constexpr double kBusyShare = 0.1;

/// Returns "load 5.8 on 2 cores, others use 61 %".
std::string load_text(const ForeignLoad& load);
/// Returns "another coordinator runs 2 pipelines here".
std::string company_text(const Company& company);

/// Returns the mean of all passes by machine, in the order of their first appearance; `load` is the
/// highest.
std::vector<ForeignLoad> foreign_load(const RunRecord& run);
/// Returns the most at one time by device.
std::vector<Company> company(const RunRecord& run);

/// Something that made figures vary, for people and for a badge.
struct Disturbance {
  enum class Kind { kBusy, kCompany };
  Kind kind = Kind::kBusy;
  std::string where;  ///< a machine or a device
  std::string text;   ///< "load 5.8 on 2 cores, others used 61 %: figures vary"
};
/// Machines that were busy.
std::vector<Disturbance> disturbances(const std::vector<ForeignLoad>& loads);
/// Machines that were busy, and devices that had company.
std::vector<Disturbance> disturbances(const RunRecord& run);

// JSON; what reads it throws as nlohmann does.
nlohmann::ordered_json to_json(const std::vector<ForeignLoad>& loads);
nlohmann::ordered_json to_json(const std::vector<Company>& company);
nlohmann::ordered_json to_json(const std::vector<Disturbance>& disturbances);
std::vector<ForeignLoad> foreign_load_from(const nlohmann::ordered_json& json);
std::vector<Company> company_from(const nlohmann::ordered_json& json);

}  // namespace pareto::results
