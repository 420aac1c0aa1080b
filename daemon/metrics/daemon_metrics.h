// Metrics of a daemon, read off its parts for each scrape. METRICS.md lists every name.
//
//   StageMeters, StageHost, ShardCache, TensorStore, /proc, /sys --daemon_metrics--> Families
#pragma once

#include <filesystem>
#include <string>

#include "core/metrics/metric.h"
#include "core/tls/credentials.h"
#include "core/tls/server_tls.h"
#include "daemon/stage/memory.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"
#include "daemon/stage/tensor_store.h"

namespace pareto::daemon {

/// The parts that are read. All outlive it.
struct MetricsParts {
  const TensorStore& store;
  const ShardCache& shards;
  const StageHost& stages;
  std::string name;  ///< name of the device: the label that every sample has
  std::string torch_version;
  MemoryProbe memory = read_memory;
  std::filesystem::path sysfs = "/sys";
  const tls::ServerTls* certificate = nullptr;    ///< certificate of the metrics' own server
  const tls::Credentials* credentials = nullptr;  ///< those of control and links
  bool insecure = false;                          ///< everybody is let in
};

/// Collects all metrics of a daemon, as METRICS.md lists them.
///
/// Threads: any. Who works waits for it no longer than for a status call.
metrics::Families daemon_metrics(const MetricsParts& parts);

}  // namespace pareto::daemon
