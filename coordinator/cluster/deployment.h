// A plan brought to life: its shards loaded, its stages open and linked, source and sink connected,
// every link primed.
//
//   Plan --ShardPool--> loaded shards --OpenStage, last first--> source link, sink link
//       --StartStage--> Deployment
//
// Replicas are pipelines of one stage each, whose links are taken in turns
// (coordinator/cluster/turn_links.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/cluster/turn_links.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/transport/transport.h"

namespace pareto::cluster {

class CodecChooser;  // coordinator/cluster/codec_choice.h

struct DeploymentOptions {
  /// Time limit for connecting, for each handshake and for each ping.
  std::chrono::milliseconds link_timeout{10'000};
  /// Capacity of the queues between a stage's threads: backpressure begins there.
  std::uint32_t queue = 4;
  /// Names the codecs that plans leave open ("auto"), and outlives the deployment; null: one is
  /// made that loses nothing.
  CodecChooser* codecs = nullptr;
  /// One a stage, of a request, 0: not known; or none. What devices are watched against.
  std::vector<Nanoseconds> profiled_compute{};
  /// Whether tensors carry a checksum on all links that reach beyond a machine's memory.
  bool payload_checksum = true;
};

/// Ready by handshake: when open() returns, a request may be sent at once. Undone in reverse order
/// at destruction, and on any failure while it opens; the shards stay in the pool.
///
/// Threads: one owner; source() and sink() may be used by one thread each.
class Deployment {
 public:
  /// Deploys a plan whose transports are named; only its source's and its sink's are taken of
  /// `transports`. Cluster, pool and transports must outlive it. Fails: kNotFound (a device of the
  /// plan, or a transport that it listens on, does not exist), and as devices and links do; the
  /// sentence names the stage and the device.
  static Expected<std::unique_ptr<Deployment>> open(const plan::Plan& plan, const Cluster& cluster,
                                                    ShardPool& pool, TransportSet& transports,
                                                    const DeploymentOptions& options = {});
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  /// Runs that plan from now on: its stages get its shards, all links stay as they are, and as
  /// warm. No request may be in flight. False: the plan has other devices, transports, codecs, or
  /// sizes of what goes in and comes out. Fails: as ShardPool::acquire does, or a stage: kExhausted
  /// where its link is not warm for what would cross it. It runs what it ran before then, unless
  /// is_usable() says otherwise.
  Expected<bool> change_to(const plan::Plan& plan, ShardPool& pool);
  /// Whether it can be used. False once some of its stages took another plan's shards and some did
  /// not: it is to be closed.
  bool is_usable() const { return usable_; }
  /// Returns the time that connecting and priming took when it was opened, its shards being loaded.
  Nanoseconds linking() const { return linking_; }

  /// Stage `stage` as devices know it: its pipeline, and its number in that.
  std::pair<std::uint64_t, std::uint32_t> name_on_device(std::size_t stage) const {
    return {lane_of(stage).pipeline, number_of(stage)};
  }
  /// Gives the pipeline up as lost: its destructor waits for no peer that hangs.
  void abandon() { abandoned_ = true; }

  /// Returns the link that requests are sent to: the first stage, or replicas in turns.
  transport::Link& source() { return turns_ ? turns_->source() : *lanes_.front().source; }
  /// Returns the link that results come from: the last stage, or replicas in turns.
  transport::Link& sink() { return turns_ ? turns_->sink() : *lanes_.front().sink; }
  std::uint64_t pipeline() const { return lanes_.front().pipeline; }
  /// Returns the plan's turn, like Plan::turn(): the replica that runs a request is its number
  /// modulo this.
  std::size_t turn() const { return lanes_.size(); }
  /// One a stage, in order.
  const std::vector<ShardLease>& shards() const { return shards_; }
  const std::vector<DaemonClient*>& devices() const { return devices_; }
  /// Returns the plan's codecs, each by its name: those that it leaves open have been chosen.
  const std::vector<std::string>& codecs() const { return codecs_; }
  /// Returns the smallest round trip of a small message on each link of the plan.
  const std::vector<Nanoseconds>& round_trips() const { return round_trips_; }
  /// Returns the bytes that one request of its plan took on each link so far, whole frames on
  /// average, asked of the stages; 0 where they do not say (yet).
  std::vector<std::uint64_t> wire_bytes() const;

 private:
  /// A pipeline: all of them, or a replica.
  struct Lane {
    std::uint64_t pipeline = 0;
    std::size_t first = 0;  ///< stages [first, end) of the plan's
    std::size_t end = 0;
    std::unique_ptr<transport::Link> source;
    std::unique_ptr<transport::Link> sink;
  };

  explicit Deployment(DeploymentOptions options) : options_(std::move(options)) {}
  void make_lanes(const plan::Plan& plan);
  Lane& lane_of(std::size_t stage) { return lanes_[lanes_.size() > 1 ? stage : 0]; }
  const Lane& lane_of(std::size_t stage) const { return lanes_[lanes_.size() > 1 ? stage : 0]; }
  /// Returns the number of a stage as devices know it.
  std::uint32_t number_of(std::size_t stage) const {
    return static_cast<std::uint32_t>(stage - lane_of(stage).first);
  }
  /// Returns the number of the link into a stage, as Plan::link_into does.
  std::size_t link_into(std::size_t stage) const { return lanes_.size() > 1 ? 2 * stage : stage; }
  Expected<> find_devices(const plan::Plan& plan, const Cluster& cluster);
  Expected<std::vector<ShardLease>> load_shards(const plan::Plan& plan, ShardPool& pool) const;
  Expected<std::vector<std::string>> choose_codecs(const plan::Plan& plan,
                                                   const std::vector<ShardLease>& shards) const;
  /// Opens its stages, last first, and the links to them. The sink connects while the others open:
  /// over a slow network each takes round trips.
  Expected<> open_lane(const plan::Plan& plan, Lane& lane, TransportSet& transports);
  Expected<OpenedStage> open_stage(const plan::Plan& plan, std::size_t stage,
                                   const std::string& downstream);
  Expected<> connect_source(Lane& lane, transport::Transport& transport,
                            const std::string& address);
  Expected<> connect_sink(Lane& lane, transport::Transport& transport, const std::string& address);
  void leave(transport::Link& link) const;
  /// Primes all links of a replica at once: no two links of a chain take the same way through the
  /// same interface, and over a slow network each takes round trips.
  Expected<> prime_links(Lane& lane);
  Expected<> prime_source(Lane& lane);
  Expected<> prime_sink(Lane& lane);
  /// Starts a stage, which primes the link to the next one.
  Expected<> start_stage(std::size_t stage);
  /// Returns the limits of the coordinator's own link to a stage.
  transport::Limits limits_to(std::size_t stage) const;
  TimePoint in_time() const { return std::chrono::steady_clock::now() + options_.link_timeout; }

  const DeploymentOptions options_;
  std::vector<DaemonClient*> devices_;
  std::vector<ShardLease> shards_;
  std::vector<std::string> codecs_;
  std::vector<std::string> transports_;  ///< transports of the plan's links
  std::vector<control::StageReport>
      earlier_;  ///< one a stage: what it had done before its shard was changed
  bool usable_ = true;
  bool abandoned_ = false;
  Nanoseconds linking_{};
  std::size_t first_open_ = 0;  ///< stages [first_open_, devices_.size()) are open
  std::vector<Lane> lanes_;
  std::unique_ptr<TurnLinks> turns_;  ///< links of a plan with replicas
  std::vector<Nanoseconds> round_trips_;
};

/// Returns the settings that a plan's shards are loaded with.
control::ShardSettings shard_settings(const plan::Plan& plan);
/// Returns the inverse, for messages that are whole batches: a plan with those settings, and
/// all else as by default.
plan::Plan plan_with(const control::ShardSettings& settings);

}  // namespace pareto::cluster
