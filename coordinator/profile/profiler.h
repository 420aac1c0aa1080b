// Measures what predictions of plans need: profiles of the devices, kept from earlier runs or
// measured now, and their links. planning::CutSpace makes plans from them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/lost_request.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/link_prober.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "core/plan/condition.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/inputs/cost_model.h"
#include "partitioner/planning/inputs/cut_space.h"

namespace pareto::profile {

struct PlanningOptions {
  std::string splits = "modules";  ///< cuts that plans may use, or else that are measured
  planning::Cuts cuts = planning::Cuts::kOrder;
  control::ShardSettings settings;  ///< its batch is that of messages
  DeviceSettings own_settings{};    ///< of devices that have others than `settings`
  /// Links are probed for their messages too: those of settings yet to come (Profiler::use).
  std::vector<std::int64_t> probed_batches{};
  /// Cuts that are measured, spread by the work before them; the others lie between. 0: all.
  std::size_t measured_cuts = 24;
  bool fresh = false;  ///< whatever is kept from earlier is measured again
  std::uint64_t seed = 1;
  /// Timeout of requests; see ProfileBench::timeout.
  std::chrono::milliseconds timeout = load::kRequestTimeout;
};

/// The devices' profiles and links that are known so far.
///
/// Threads: one owner. `cluster`, `pool`, `store`, `model` and `stop`, which ends whatever measures
/// with kClosed, outlive it.
class Profiler {
 public:
  using Progress = std::function<void(const std::string& now, std::size_t done, std::size_t total)>;

  Profiler(const model::Model& model, const cluster::Cluster& cluster, cluster::ShardPool& pool,
           results::ResultStore& store, PlanningOptions options, const std::atomic<bool>& stop)
      : model_(model),
        cluster_(cluster),
        pool_(pool),
        store_(store),
        options_(std::move(options)),
        stop_(stop) {}

  /// Changes the settings from now on: profile() comes next. Links stay as they were probed;
  /// `probed_batches` has their batch.
  void use(const control::ShardSettings& settings) { options_.settings = settings; }
  /// Measures what is not known of the devices, over those transports and with the network at rest,
  /// and stores it. If it is stopped after each cut had its turn, it stores that too.
  /// Fails: as probe, profile_devices, the store, and as unknown split points do.
  Expected<> profile(const LinkTransports& transports, cluster::Workload& workload,
                     const Progress& progress);
  /// Probes, after profile(), every link over every transport that it can have, with the network in
  /// that condition, where it stays. Each condition is probed once. Fails: as probe_links does;
  /// kInvalidArgument where the network cannot be like that.
  Expected<std::vector<planning::ProbedTransport>> probe(const LinkTransports& transports,
                                                         const std::string& condition,
                                                         const Progress& progress);
  /// Probes as probe() does with the network at rest, and returns what that definition would make
  /// of it. Fails: as probe() and under_condition() do.
  Expected<std::vector<planning::ProbedTransport>> probe_at_rest(const LinkTransports& transports,
                                                                 const plan::Condition& definition,
                                                                 const Progress& progress);
  /// Probes codecs at those cuts that devices were profiled at, after profile(). Fails: as
  /// coordinator/profile/codec_prober.h says.
  Expected<planning::ProbedCodecs> probe_codecs(const std::vector<std::string>& codecs,
                                                double allowed_error, cluster::Workload& workload,
                                                const Progress& progress) const;

  const planning::SplitChoice& splits() const { return splits_; }
  /// Returns the devices as they were profiled. After profile().
  const std::vector<planning::DeviceFacts>& devices() const { return space_->devices(); }
  /// Returns a line for each device whose profile was measured while its machine was busy.
  std::vector<std::string> doubts() const;
  /// Returns whether anything of the profiles was measured now.
  bool measured_now() const { return measured_now_; }
  /// Returns where plans may cut, by the devices as they were profiled. To be called after
  /// profile().
  const planning::CutSpace& space() const { return *space_; }
  /// Returns why the space is that of the model's order although another would have been taken;
  /// empty: it is as it was asked for.
  const std::string& why_in_order() const { return why_in_order_; }
  /// Takes the space of the model's order from now on, because the ideals are too many to search.
  /// Returns false if nobody leaves that open.
  bool cut_in_order(std::string why);

 private:
  ProfileRequest request() const;
  void make_space(planning::CutChoice cuts, std::vector<planning::DeviceFacts> devices);
  Expected<std::vector<planning::ProbedTransport>> probe_now(const LinkTransports& transports,
                                                             const Progress& progress) const;

  const model::Model& model_;
  const cluster::Cluster& cluster_;
  cluster::ShardPool& pool_;
  results::ResultStore& store_;
  PlanningOptions options_;
  const std::atomic<bool>& stop_;
  planning::SplitChoice splits_;
  std::string why_in_order_;
  std::unique_ptr<planning::CutSpace> space_;
  bool measured_now_ = false;
  std::map<std::pair<std::string, LinkTransports>, std::vector<planning::ProbedTransport>> probed_;
};

/// Returns about `count` of the split points, at most one more; 0 means all. These are the first,
/// the last, and between them one at each equal share of the work.
planning::SplitChoice spread_by_work(const std::vector<model::SplitPoint>& points,
                                     const planning::SplitChoice& splits, std::size_t count);

}  // namespace pareto::profile
