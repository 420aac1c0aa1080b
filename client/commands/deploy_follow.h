// `deploy --follow`: measures the links while requests cross them, and changes the plan when
// another one is better by more than chance.
//
//   results ──(timelines)──▶ LinkTracker ──▶ links as they are ──Replanner──▶ best plan
//       probes of idle links ──┘               SwitchRule: now? ──▶ DeployPlans::change_to
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/command.h"
#include "client/commands/deploy_plans.h"
#include "client/commands/deploy_watch.h"
#include "coordinator/failover/link_tracker.h"
#include "coordinator/failover/replanner.h"
#include "coordinator/failover/switch_rule.h"
#include "coordinator/load/request_stream.h"
#include "partitioner/planning/outlook/choose.h"

namespace pareto::client::commands {

/// Passes results on, and reads from them what links take.
///
/// Threads: as RequestSink; one of its own from its construction to its end. The stream ends before
/// it does.
class DeployFollow final : public load::RequestSink {
 public:
  /// All that is passed by reference outlives it.
  DeployFollow(Context& context, const model::Model& model, DeployPlans& plans,
               const DeployWatch& watch, const failover::Replanner& replanner,
               planning::Preference preference, load::RequestSink& results);
  ~DeployFollow() override;
  DeployFollow(const DeployFollow&) = delete;
  DeployFollow& operator=(const DeployFollow&) = delete;

  void done(load::StreamResult result) override;

 private:
  /// The part of a result that says something of the links.
  struct Crossing {
    std::uint64_t pipeline = 0;
    std::uint64_t message = 0;
    std::vector<failover::LinkReading> links;  ///< those that it passed, without bytes
  };
  /// When a way was heard of last, and when it may be probed again.
  struct Heard {
    TimePoint last{};
    TimePoint probe_after{};
  };

  void follow();
  /// Returns whether links changed by what crossed them.
  bool read_crossings(const plan::Plan& plan, std::uint64_t pipeline);
  /// Returns whether a link changed by a probe of it.
  bool probe_idle(TimePoint now);
  /// Changes the plan if it is time to.
  void consider(const plan::Plan& running, TimePoint now);
  /// Returns a way that the plan would use and of which nothing was heard since then: what made
  /// one way slower may have made others slower.
  std::optional<failover::LinkWay> unheard_way(const plan::Plan& plan, TimePoint since);
  void change(const failover::Replanner::Forecast& best, double gain);
  std::optional<failover::LinkWay> way_of(const plan::Plan& plan, std::size_t link) const;
  std::string name_of(const failover::LinkWay& way) const;
  void say(const std::string& sentence);

  Context& context_;
  const model::Model& model_;
  DeployPlans& plans_;
  const DeployWatch& watch_;
  const failover::Replanner& replanner_;
  const planning::Preference preference_;
  load::RequestSink& results_;
  const std::vector<std::string> devices_;  ///< rows of links, without the coordinator
  failover::LinkTracker tracker_;
  failover::SwitchRule rule_;
  std::map<std::string, Heard> heard_;  ///< keyed by name_of()
  std::string said_;                    ///< the last sentence
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Crossing> crossings_;
  bool ending_ = false;
  std::jthread following_;  // last: it uses all of the above
};

}  // namespace pareto::client::commands
