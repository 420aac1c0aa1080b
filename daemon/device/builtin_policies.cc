#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "daemon/device/policies/policies.h"
#include "daemon/device/turn_policy.h"

namespace pareto::daemon::device {
namespace {

constexpr std::array<TurnPolicyEntry, 3> kPolicies{{
    {"fair", "shares cores between pipelines by their weights", make_fair},
    {"fifo", "takes requests in the order in which they came", make_fifo},
    {"deadline", "takes the earliest deadline first, then by priority", make_deadline},
}};
static_assert(kPolicies.front().name == kDefaultTurnPolicy);

}  // namespace

bool came_before(const WaitingTurn& one, const WaitingTurn& other) {
  if (one.arrived != other.arrived) return one.arrived < other.arrived;
  return one.number < other.number;
}

std::span<const TurnPolicyEntry> builtin_turn_policies() { return kPolicies; }

std::vector<std::string> turn_policy_names() {
  std::vector<std::string> names;
  for (const TurnPolicyEntry& entry : kPolicies) names.emplace_back(entry.name);
  return names;
}

Expected<std::unique_ptr<TurnPolicy>> make_turn_policy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &TurnPolicyEntry::name);
  if (found != kPolicies.end()) return found->make();
  const std::vector<std::string> names = turn_policy_names();
  return fail(ErrorCode::kInvalidArgument, "unknown policy \"{}\"{}; policies are {}", name,
              did_you_mean(std::string(name), names), join(names));
}

}  // namespace pareto::daemon::device
