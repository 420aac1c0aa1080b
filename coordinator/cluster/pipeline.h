// One pipeline of a deployment: its stages, and the coordinator's two links with them.
//
//   open: stages last first, the sink's link meanwhile, then the source's
//   prime: all links at once
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::cluster {

struct DeploymentOptions;  // coordinator/cluster/deployment.h

/// All stages of a plan or, of replicas, one. Stages and links have their numbers in the plan.
///
/// Threads: one owner; source() and sink() may be used by one thread each.
class Pipeline {
 public:
  /// The plan as it is deployed. All of it outlives the pipeline.
  struct Deployed {
    const DeploymentOptions& options;
    const std::vector<DaemonClient*>& devices;   ///< one for each stage
    const std::vector<ShardLease>& shards;       ///< one for each stage
    const std::vector<std::string>& codecs;      ///< one for each link between stages
    const std::vector<std::string>& transports;  ///< one for each link
    std::vector<Nanoseconds>& round_trips;       ///< one for each link: priming sets it
  };
  /// The pipeline `id` of stages [first, end). `first_link` leads into the first of them.
  Pipeline(const Deployed& deployed, std::uint64_t id, std::size_t first, std::size_t end,
           std::size_t first_link)
      : deployed_(deployed),
        id_(id),
        first_(first),
        end_(end),
        first_link_(first_link),
        first_open_(end) {}

  /// Opens the stages and connects source and sink. Over a slow network each takes round trips, so
  /// the sink connects while stages open. Fails: as devices and links do, naming stage and device.
  Expected<> open(TransportSet& transports);
  /// Primes all links at once: no two links of a chain take the same way through the same
  /// interface. Fails: as links do, naming stage and device.
  Expected<> prime();
  /// Ends what is sent, and closes both links. `abandoned`: waits for no peer that hangs.
  void leave(bool abandoned);
  void close_stages();

  std::uint64_t id() const { return id_; }
  std::size_t first() const { return first_; }
  std::size_t last() const { return end_ - 1; }
  /// Returns the number of a stage as devices know it.
  std::uint32_t number_of(std::size_t stage) const {
    return static_cast<std::uint32_t>(stage - first_);
  }
  /// Returns the link into a stage. The next number is that of the link out of it.
  std::size_t link_into(std::size_t stage) const { return first_link_ + stage - first_; }
  transport::Link& source() const { return *source_; }
  transport::Link& sink() const { return *sink_; }

 private:
  Expected<OpenedStage> open_stage(std::size_t stage, const std::string& downstream);
  Expected<> connect_source(transport::Transport& transport, const std::string& address);
  Expected<> connect_sink(transport::Transport& transport, const std::string& address);
  Expected<> prime_source();
  Expected<> prime_sink();
  /// Starts a stage, which primes the link to the next one.
  Expected<> start_stage(std::size_t stage);
  /// Returns the options of the coordinator's own link to a stage.
  transport::LinkOptions options_to(std::size_t stage) const;
  /// Names those who may open the stage's links, if certificates tell who they are.
  void name_link_peers(std::size_t stage, control::StageRequest& request) const;
  const std::string& device_of(std::size_t stage) const {
    return deployed_.devices[stage]->config().name;
  }

  const Deployed deployed_;
  const std::uint64_t id_;
  const std::size_t first_;
  const std::size_t end_;
  const std::size_t first_link_;
  std::size_t first_open_;  ///< stages [first_open_, end_) are open
  std::unique_ptr<transport::Link> source_;
  std::unique_ptr<transport::Link> sink_;
};

}  // namespace pareto::cluster
