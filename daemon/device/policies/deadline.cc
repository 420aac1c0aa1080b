// Earliest deadline first. Requests without a deadline come after those that have one, the more
// urgent ones first. A request that is as urgent as the one that computes does not interrupt it.
#include "daemon/device/policies/policies.h"

namespace pareto::daemon::device {
namespace {

/// Returns whether one is more urgent than the other, whenever they came.
bool is_more_urgent(const WaitingTurn& one, const WaitingTurn& other) {
  if (one.deadline.has_value() != other.deadline.has_value()) return one.deadline.has_value();
  if (one.deadline != other.deadline) return *one.deadline < *other.deadline;
  return one.priority > other.priority;
}

class EarliestDeadline final : public TurnPolicy {
 public:
  bool before(const WaitingTurn& one, const WaitingTurn& other) const override {
    if (is_more_urgent(one, other)) return true;
    return !is_more_urgent(other, one) && came_before(one, other);
  }
  bool interrupts(const WaitingTurn& waiting, const WaitingTurn& held,
                  double /*core_seconds*/) const override {
    return is_more_urgent(waiting, held);
  }
};

}  // namespace

std::unique_ptr<TurnPolicy> make_deadline() { return std::make_unique<EarliestDeadline>(); }

}  // namespace pareto::daemon::device
