// Settings that a device runs a shard with.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/plan/stage_settings.h"

namespace pareto::control {

/// The settings of the shard's stage, and what the rest of the plan and the device add to them.
struct ShardSettings : plan::StageSettings {
  std::int64_t batch = 1;  ///< engines are timed at this one
  std::string device{};    ///< "cuda:0"; empty means as the device is set
  /// Its training, as plan::training_json() writes it; empty means that it is not trained.
  std::string training{};
  /// The loss of the last stage that trains: a shard's manifest and archive; empty: none.
  std::string loss_manifest{};
  std::string loss_archive{};
  auto operator<=>(const ShardSettings&) const = default;
};

}  // namespace pareto::control
