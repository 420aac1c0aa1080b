// A network within the test: it has every condition but a few.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "coordinator/cluster/network.h"

namespace pareto::sweep {

/// Notes what is applied. "flaky" fails the second time, "overloaded" does not hold.
class FakeNetwork final : public cluster::Network {
 public:
  Expected<netem::LinkMeasurement> apply(const std::string& condition) override {
    applied.push_back(condition);
    const auto times = std::ranges::count(applied, condition);
    if (condition == refused || (condition == "flaky" && times == 2)) {
      return fail(ErrorCode::kUnavailable, "not what was asked for");
    }
    netem::LinkMeasurement link;
    link.round_trip = std::chrono::milliseconds(condition == "none" ? 0 : 40);
    link.forward.probes = probes;
    link.forward.loss = 0.25;
    return link;
  }
  Expected<> offers(const std::string& /*condition*/) const override { return {}; }
  std::string resting_condition() const override { return "none"; }
  std::string emulator() const override { return made_by; }
  Expected<> check() const override {
    if (applied.back() != "overloaded") return {};
    return fail(ErrorCode::kUnavailable, "could not keep up");
  }

  std::vector<std::string> applied;
  std::string refused = "unreachable";
  int probes = 0;  ///< on the way there
  std::string made_by = "tc";
};

}  // namespace pareto::sweep
