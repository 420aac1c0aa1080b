// Earliest deadline first. Requests without a deadline come after those that have one, the more
// urgent ones first.
#include "daemon/device/policies/policies.h"

namespace pareto::daemon {
namespace {

class EarliestDeadline final : public TurnPolicy {
 public:
  bool before(const WaitingTurn& one, const WaitingTurn& other) const override {
    if (one.deadline.has_value() != other.deadline.has_value()) return one.deadline.has_value();
    if (one.deadline != other.deadline) return *one.deadline < *other.deadline;
    if (one.priority != other.priority) return one.priority > other.priority;
    return came_before(one, other);
  }
};

}  // namespace

std::unique_ptr<TurnPolicy> make_deadline() { return std::make_unique<EarliestDeadline>(); }

}  // namespace pareto::daemon
