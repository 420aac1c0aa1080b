// Request to open a stage of a loaded shard.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.h"

namespace pareto::control {

struct StageRequest {
  std::uint64_t pipeline = 0;        ///< chosen by the coordinator at random
  std::uint32_t stage = 0;           ///< 0 is the first
  std::string shard;                 ///< the handle that loading returned
  std::string transport;             ///< transport of the link that its upstream connects
  std::string downstream_transport;  ///< transport of the link to the next stage, or to the sink
  std::string downstream;   ///< address of the next stage; empty: the sink will connect here
  std::uint32_t queue = 4;  ///< capacity of the queues between its threads, 1 … 1024
  std::uint64_t max_frame_bytes = 0;  ///< limit on its downstream link; 0 means the device's limit
  std::string codec{};                ///< codec of what it sends to the next stage; empty: none
  /// Compute time of a request, by the device's profile; 0: not known.
  Nanoseconds profiled_compute{};
  bool payload_checksum = true;  ///< whether what it sends has a checksum
  /// Share of the device's cores, relative to other pipelines': plan::kLeastWeight to kMostWeight.
  double weight = 1;
  /// Priority of its requests that name none; more is sooner: ±plan::kMostPriority.
  int priority = 0;
  bool operator==(const StageRequest&) const = default;
};

}  // namespace pareto::control
