#include "coordinator/sweep/condition_gate.h"

#include <utility>

#include "core/base/clock.h"

namespace pareto::sweep {
namespace {

results::NetworkFigures figures_of(const netem::LinkMeasurement& link, std::string emulator) {
  results::NetworkFigures figures;
  figures.round_trip_ms = to_milliseconds(link.round_trip);
  figures.forward_mbit_per_s = link.forward.bits_per_second / 1e6;
  figures.backward_mbit_per_s = link.backward.bits_per_second / 1e6;
  figures.emulator = std::move(emulator);
  // Without probes there is one round trip, and nothing that could be lost.
  if (link.forward.probes > 0) {
    figures.round_trip_deviation_ms = to_milliseconds(link.round_trip_deviation);
    figures.forward_loss = link.forward.loss;
  }
  if (link.backward.probes > 0) figures.backward_loss = link.backward.loss;
  return figures;
}

}  // namespace

Expected<std::optional<results::NetworkFigures>> ConditionGate::enter(
    const std::string& condition) {
  const auto applied = cluster::apply_condition(network_, condition);
  if (!applied) {
    // One that was had before may be had again: only the trial in hand fails.
    if (!held_.contains(condition)) refused_.insert(condition);
    return tl::unexpected(applied.error());
  }
  held_.insert(condition);
  if (!*applied || network_->emulator().empty()) return std::nullopt;
  return figures_of(**applied, network_->emulator());
}

Expected<> ConditionGate::check() const {
  return network_ == nullptr ? Expected<>() : network_->check();
}

}  // namespace pareto::sweep
