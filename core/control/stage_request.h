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
  bool payload_checksum = true;  ///< true if what it sends has a checksum
  /// Share of the device's cores, relative to other pipelines': plan::kLeastWeight to kMostWeight.
  double weight = 1;
  /// Priority of its requests that name none; more is sooner: ±plan::kMostPriority.
  int priority = 0;
  // Those who may speak with the stage, "device pi-1" or "coordinator lab" as certificates name
  // them. Empty: links are not secured.
  std::string upstream_peer{};    ///< the one that connects its upstream link
  std::string sink_peer{};        ///< the one that takes its results
  std::string downstream_peer{};  ///< the device that has to answer at `downstream`
  bool operator==(const StageRequest&) const = default;
};

}  // namespace pareto::control
