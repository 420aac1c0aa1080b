// A plan brought to life: its shards loaded, its stages open and linked, source and sink connected,
// every link primed.
//
//   Plan --ShardPool--> loaded shards --Pipeline: OpenStage, last first--> source link, sink link
//        --StartStage--> Deployment
//
// Replicas are pipelines of one stage each, whose links are taken in turns
// (coordinator/cluster/turn_links.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/pipeline.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/cluster/turn_links.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/transport/transport.h"

namespace pareto::cluster {

class CodecChooser;  // coordinator/cluster/codec_choice.h

/// Training of a stage: control::ShardSettings has the same three.
struct StageTraining {
  std::string settings;
  std::string loss_manifest{};
  std::string loss_archive{};
};

/// Says how each stage of a plan is trained, and sends what they need next to their shards to their
/// devices, one for each stage.
using TrainingFactory = std::function<Expected<std::vector<StageTraining>>(
    const plan::Plan& plan, const std::vector<DaemonClient*>& devices)>;

struct DeploymentOptions {
  /// The longest that connecting, each handshake and each ping may take.
  std::chrono::milliseconds link_timeout{10'000};
  /// Capacity of the queues between a stage's threads: backpressure begins there.
  std::uint32_t queue = 4;
  /// Names the codecs that plans leave open ("auto"), and outlives the deployment; null: one is
  /// made that loses nothing.
  CodecChooser* codecs = nullptr;
  /// The computing time of a request in each stage, which devices are watched against; 0 means not
  /// known. Empty: no time is known.
  std::vector<Nanoseconds> profiled_compute{};
  /// Share of each device's cores, relative to other pipelines' there, plan::kLeastWeight to
  /// kMostWeight; and how urgent its requests are, ±plan::kMostPriority.
  double weight = 1;
  int priority = 0;
  bool deadlines = false;  ///< true if requests say how much time they have left
  /// Makes stages that train; empty: stages run requests.
  TrainingFactory training{};
  /// True if tensors carry a checksum on all links that reach beyond a machine's memory.
  bool payload_checksum = true;
};

/// A plan that is ready by handshake: when open() returns, a request may be sent at once. It is
/// undone in reverse order at destruction, and on any failure while it opens; the shards stay in
/// the pool. It has more than 20 methods: steps of opening, each undone by another, and questions
/// about what is open.
///
/// Threads: one owner; source() and sink() may be used by one thread each.
class Deployment {
 public:
  /// Opens a plan whose transports are named. From `transports` it takes only those of the source's
  /// and the sink's link. Cluster, pool and transports must outlive it.
  /// Fails: kNotFound (a device of the plan, or a transport that it listens on, does not exist),
  /// and as devices and links do, with the stage and the device.
  static Expected<std::unique_ptr<Deployment>> open(const plan::Plan& plan, const Cluster& cluster,
                                                    ShardPool& pool, TransportSet& transports,
                                                    const DeploymentOptions& options = {});
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  /// Runs that plan from now on: its stages get its shards, all links stay as they are, and as
  /// warm. No request may be in flight. Returns false if the plan has other devices, transports,
  /// codecs, or sizes of what goes in and comes out. Fails: as ShardPool::acquire, or as a stage:
  /// kExhausted if its link is not warm for what would cross it. After a failure it runs what it
  /// ran before, unless is_usable() says otherwise.
  Expected<bool> change_to(const plan::Plan& plan, ShardPool& pool);
  /// Returns false once some of its stages took another plan's shards and some did not: it is to be
  /// closed.
  bool is_usable() const { return usable_; }
  /// Returns how long connecting and priming took, once its shards were loaded.
  Nanoseconds linking() const { return linking_; }

  /// Returns a stage as devices know it: its pipeline, and its number in that.
  std::pair<std::uint64_t, std::uint32_t> name_on_device(std::size_t stage) const {
    return {pipeline_of(stage).id(), pipeline_of(stage).number_of(stage)};
  }
  /// Marks it as lost: its destructor waits for no peer that hangs.
  void abandon() { abandoned_ = true; }

  /// Returns the link that requests are sent to: the first stage's, or replicas' in turns.
  transport::Link& source() { return turns_ ? turns_->source() : pipelines_.front().source(); }
  /// Returns the link that results come from: the last stage's, or replicas' in turns.
  transport::Link& sink() { return turns_ ? turns_->sink() : pipelines_.front().sink(); }
  std::uint64_t pipeline() const { return pipelines_.front().id(); }
  /// Returns Plan::turn(): the replica that runs a request is its number modulo this.
  std::size_t turn() const { return pipelines_.size(); }
  /// Shards, and devices, one for each stage in order.
  const std::vector<ShardLease>& shards() const { return shards_; }
  const std::vector<DaemonClient*>& devices() const { return devices_; }
  /// Returns the names of the plan's codecs; those that it leaves open have been chosen.
  const std::vector<std::string>& codecs() const { return codecs_; }
  /// Returns the smallest round trip of a small message on each link of the plan.
  const std::vector<Nanoseconds>& round_trips() const { return round_trips_; }
  /// Asks the stages how many bytes one request of its plan took on each link so far: whole frames,
  /// on average. 0 means that they do not say (yet).
  std::vector<std::uint64_t> wire_bytes() const;

 private:
  explicit Deployment(DeploymentOptions options) : options_(std::move(options)) {}
  void make_pipelines(const plan::Plan& plan);
  const Pipeline& pipeline_of(std::size_t stage) const {
    return pipelines_[pipelines_.size() > 1 ? stage : 0];
  }
  Expected<> find_devices(const plan::Plan& plan, const Cluster& cluster);
  /// Checks that all devices know of what the options ask for. Fails: kInvalidArgument.
  Expected<> check_sharing() const;
  Expected<std::vector<ShardLease>> load_shards(const plan::Plan& plan, ShardPool& pool) const;
  Expected<std::vector<std::string>> choose_codecs(const plan::Plan& plan,
                                                   const std::vector<ShardLease>& shards) const;

  const DeploymentOptions options_;
  std::vector<DaemonClient*> devices_;
  std::vector<ShardLease> shards_;
  std::vector<std::string> codecs_;
  std::vector<std::string> transports_;  ///< one for each link of the plan
  /// The reports of all stages from before their shards were changed.
  std::vector<control::StageReport> earlier_;
  bool usable_ = true;
  bool abandoned_ = false;
  Nanoseconds linking_{};
  std::vector<Nanoseconds> round_trips_;
  std::vector<Pipeline> pipelines_;   ///< the plan's only one, or one for each replica
  std::unique_ptr<TurnLinks> turns_;  ///< null: there are no replicas
};

/// Returns the settings that the shard of a plan's stage is loaded with.
control::ShardSettings shard_settings(const plan::Plan& plan, std::size_t stage);
/// Returns a plan with those settings, whose messages are whole batches; all else is as by default.
plan::Plan plan_with(const control::ShardSettings& settings);

}  // namespace pareto::cluster
