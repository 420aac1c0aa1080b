// What has to be known before plans can be predicted: profiles of the devices, kept from earlier runs or measured now, and their links.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/cluster/shard_pool.h"
#include "client/cluster/workload.h"
#include "client/experiment/lost_request.h"
#include "client/planning/cost_model.h"
#include "client/planning/device_profiler.h"
#include "client/planning/ideal_plans.h"
#include "client/planning/link_prober.h"
#include "client/results/store.h"
#include "core/base/error.h"
#include "core/plan/condition.h"
#include "partitioner/graph/model.h"

namespace pareto::client {

struct PlanningOptions {
  std::string splits = "modules";  ///< where plans may be cut, or else what is measured
  Cuts cuts = Cuts::kOrder;
  ShardSettings settings;  ///< its batch is that of messages
  /// Links are probed for their messages too: those of settings yet to come (Planner::use).
  std::vector<std::int64_t> probed_batches{};
  /// Cuts that are measured, spread by the work before them; the others lie between. 0: all.
  std::size_t measured_cuts = 24;
  bool fresh = false;  ///< whatever is kept from earlier is measured again
  std::uint64_t seed = 1;
  std::chrono::milliseconds timeout = kRequestTimeout;  ///< as ProfileBench::timeout
};

/// Threads: one owner. `cluster`, `pool`, `store`, `model` and `stop`, which ends whatever measures with kClosed, outlive it.
class Planner {
 public:
  using Progress = std::function<void(const std::string& now, std::size_t done, std::size_t total)>;

  Planner(const partitioner::Model& model, const Cluster& cluster, ShardPool& pool,
          ResultStore& store, PlanningOptions options, const std::atomic<bool>& stop)
      : model_(model),
        cluster_(cluster),
        pool_(pool),
        store_(store),
        options_(std::move(options)),
        stop_(stop) {}

  /// From now on it is of those settings: profile() comes next. Links stay as they were probed; `probed_batches` has their batch.
  void use(const ShardSettings& settings) { options_.settings = settings; }
  /// Measures what is not known of the devices, over those transports and with the network at rest, and keeps it, also when it is
  /// stopped after each cut had its turn. Fails: as probe, profile_devices, the store, and split points that nobody knows do.
  Expected<> profile(const LinkTransports& transports, Workload& workload,
                     const Progress& progress);
  /// After profile(): every link over every transport that it can have, with the network in that condition, where it stays. Each
  /// condition is probed once. Fails: as probe_links does; kInvalidArgument where the network cannot be like that.
  Expected<std::vector<ProbedTransport>> probe(const LinkTransports& transports,
                                               const std::string& condition,
                                               const Progress& progress);
  /// As probe() with the network at rest, and what that definition would make of it. Fails: as probe() and under_condition() do.
  Expected<std::vector<ProbedTransport>> probe_at_rest(const LinkTransports& transports,
                                                       const Condition& definition,
                                                       const Progress& progress);
  /// At those cuts that devices were profiled at, after profile(). Fails: as client/planning/codec_prober.h says.
  Expected<ProbedCodecs> probe_codecs(const std::vector<std::string>& codecs, double allowed_error,
                                      Workload& workload, const Progress& progress) const;

  const SplitChoice& splits() const { return splits_; }
  const std::vector<DeviceFacts>& devices() const { return devices_; }
  /// Whether anything of the profiles was measured now.
  bool measured_now() const { return measured_now_; }
  Expected<partitioner::CostInputs> cost_inputs(const std::vector<ProbedTransport>& transports,
                                                const ProbedCodecs& codecs = {}) const;
  /// Whether plans are cut anywhere, after profile().
  bool cuts_anywhere() const { return cuts_.ideals.has_value(); }
  /// As CutChoice::why_in_order.
  const std::string& why_in_order() const { return cuts_.why_in_order; }
  /// Whether it may be changed to that.
  bool may_cut_in_order() const { return cuts_anywhere() && options_.cuts == Cuts::kAuto; }
  /// From now on, for what comes of ideals is too much to be searched.
  void cut_in_order(std::string why);
  /// A placement among cost inputs of this planner as a plan; window 0 is left open.
  Plan plan_of(const partitioner::Placement& placement, const partitioner::CostInputs& inputs,
               int window = 0) const;
  /// The stages of a plan as a placement among cost inputs of this planner. Fails: kNotFound (a device or a cut that it does not know).
  Expected<partitioner::Placement> placement_of(const Plan& plan) const;

 private:
  ProfileWish wish() const;
  Expected<std::vector<ProbedTransport>> probe_now(const LinkTransports& transports,
                                                   const Progress& progress) const;

  const partitioner::Model& model_;
  const Cluster& cluster_;
  ShardPool& pool_;
  ResultStore& store_;
  PlanningOptions options_;
  const std::atomic<bool>& stop_;
  SplitChoice splits_;
  CutChoice cuts_;
  std::vector<DeviceFacts> devices_;
  bool measured_now_ = false;
  std::map<std::pair<std::string, LinkTransports>, std::vector<ProbedTransport>> probed_;
};

/// About `count` of the split points, at most one more: the first and the last, and between them each at an equal share of the work; 0: all.
SplitChoice spread_by_work(const std::vector<partitioner::SplitPoint>& points,
                           const SplitChoice& splits, std::size_t count);

}  // namespace pareto::client
