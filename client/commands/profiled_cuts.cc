#include "client/commands/profiled_cuts.h"

#include <set>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "partitioner/planning/search/ideal_costs.h"

namespace pareto::client::commands {
namespace {

std::string not_profiled(const model::Model& model, std::int64_t batch) {
  return fmt::format("--profiled: no device was profiled for {} at batch {} (paretoctl profile)",
                     model.name(), batch);
}

}  // namespace

Expected<> add_profiled(const model::Model& model, std::int64_t batch, results::ResultStore& store,
                        std::vector<ShownCut>& cuts) {
  PARETO_ASSIGN(const auto profiles, store.profiles_of(model.digest().hex()));
  // The sets that costs are computed for: nothing, each cut, everything.
  search::GraphIdeals sets;
  sets.operators.emplace_back();
  for (const ShownCut& one : cuts) sets.operators.push_back(one.cut.before);
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  sets.operators.push_back({{0, operators}});
  const int end = static_cast<int>(sets.operators.size()) - 1;
  std::set<std::string> devices;
  for (const plan::DeviceProfile& profile : profiles) {
    if (profile.batch != batch || !devices.insert(profile.device).second) continue;
    PARETO_ASSIGN(
        const planning::DeviceCosts costs,
        with_context(search::ideal_costs(profile, sets), "the profile of {}", profile.device));
    for (int i = 1; i < end; ++i) {
      cuts[static_cast<std::size_t>(i) - 1].profiled.push_back(
          {profile.device, to_milliseconds(costs.time(0, i)), to_milliseconds(costs.time(i, end))});
    }
  }
  if (!devices.empty()) return {};
  return fail(ErrorCode::kNotFound, "{}", not_profiled(model, batch));
}

Expected<plan::DeviceProfile> profile_on(const model::Model& model, std::int64_t batch,
                                         results::ResultStore& store, const std::string& device) {
  PARETO_ASSIGN(const auto profiles, store.profiles_of(model.digest().hex()));
  std::vector<std::string> devices;
  for (const plan::DeviceProfile& profile : profiles) {
    if (profile.batch != batch) continue;
    if (device.empty() || profile.device == device) return profile;
    devices.push_back(profile.device);
  }
  if (devices.empty()) return fail(ErrorCode::kNotFound, "{}", not_profiled(model, batch));
  return fail(ErrorCode::kNotFound, "--profiled {}: that device was not profiled{}; there are {}",
              device, did_you_mean(device, devices), join(devices));
}

}  // namespace pareto::client::commands
