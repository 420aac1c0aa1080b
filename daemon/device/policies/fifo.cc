// First in, first out: a pipeline gets the more of the cores the more it asks for.
#include "daemon/device/policies/policies.h"

namespace pareto::daemon::device {
namespace {

class Fifo final : public TurnPolicy {
 public:
  bool before(const WaitingTurn& one, const WaitingTurn& other) const override {
    return came_before(one, other);
  }
  bool interrupts(const WaitingTurn& /*waiting*/, const WaitingTurn& /*held*/,
                  double /*core_seconds*/) const override {
    return false;
  }
};

}  // namespace

std::unique_ptr<TurnPolicy> make_fifo() { return std::make_unique<Fifo>(); }

}  // namespace pareto::daemon::device
