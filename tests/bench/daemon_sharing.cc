// Pipelines that share one daemon: what a greedy one leaves the others, and what owners' limits are
// worth.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/benches.h"
#include "tests/bench/shared_daemon.h"

namespace pareto::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kLightModel = "mobilenetv2";
constexpr const char* kGreedyModel = "resnet50";
constexpr int kGreedyWindow = 8;

/// One core of the machine is the device; this process has the others.
std::vector<std::string> one_core(const char* policy) {
  return {"--cpu", "0", "--threads", "1", "--turns", policy};
}

/// A light pipeline and a greedy one on a daemon of their own.
class Neighbours {
 public:
  static Expected<Neighbours> open(const char* policy, bool deadlines) {
    Neighbours made;
    PARETO_ASSIGN(made.daemon_, SharedDaemon::start(one_core(policy)));
    cluster::DeploymentOptions options;
    options.deadlines = deadlines;
    PARETO_ASSIGN(made.light_, SharedPipeline::open(*made.daemon_, kLightModel, options));
    PARETO_ASSIGN(made.greedy_, SharedPipeline::open(*made.daemon_, kGreedyModel));
    PARETO_TRY(made.light_->pace(Nanoseconds(0), seconds(1)));
    return made;
  }

  /// Returns the light one's requests, every `interval`, with nothing next to them …
  Expected<PacedRequests> alone(Nanoseconds interval, Nanoseconds duration) {
    return light_->pace(interval, duration);
  }
  /// … or next to the greedy one. `done`: counts that one's requests.
  Expected<PacedRequests> beside(Nanoseconds interval, Nanoseconds duration, Nanoseconds deadline,
                                 std::size_t& done) {
    BackgroundLoad greedy(*greedy_, kGreedyWindow, duration + milliseconds(500));
    auto paced = light_->pace(interval, duration, deadline);
    PARETO_ASSIGN(const load::LoadResult result, greedy.wait());
    done += result.samples.size();
    return paced;
  }

 private:
  std::unique_ptr<SharedDaemon> daemon_;
  std::unique_ptr<SharedPipeline> light_;
  std::unique_ptr<SharedPipeline> greedy_;
};

/// Threads that keep cores busy next to a daemon, while they exist.
class OtherWork {
 public:
  explicit OtherWork(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~OtherWork() { ends_ = true; }
  OtherWork(const OtherWork&) = delete;
  OtherWork& operator=(const OtherWork&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace

Expected<std::vector<Row>> fair_latency(const std::string& name) {
  constexpr int kRounds = 5;
  constexpr milliseconds kInterval{40};
  constexpr seconds kSlice{5};
  PARETO_ASSIGN(Neighbours neighbours, Neighbours::open("fair", false));
  std::vector<double> alone;
  std::vector<double> beside;
  std::size_t greedy = 0;
  for (int round = 0; round < kRounds; ++round) {
    PARETO_ASSIGN(const PacedRequests without, neighbours.alone(kInterval, kSlice));
    PARETO_ASSIGN(const PacedRequests with, neighbours.beside(kInterval, kSlice, {}, greedy));
    alone.insert(alone.end(), without.latencies.begin(), without.latencies.end());
    beside.insert(beside.end(), with.latencies.begin(), with.latencies.end());
  }
  const double p99_alone = results::quantile(alone, 0.99);
  const double p99_beside = results::quantile(beside, 0.99);
  return std::vector<Row>{
      {name, p99_beside / p99_alone, 2, false,
       fmt::format("{} {:.1f} ms / {:.1f} ms alone (medians {:.1f}, {:.1f}); {} of {} done beside, "
                   "one core",
                   kLightModel, p99_beside, p99_alone, statistics::median(beside),
                   statistics::median(alone), greedy, kGreedyModel)}};
}

Expected<std::vector<Row>> daemon_deadlines(const std::string& name) {
  constexpr int kRounds = 4;
  constexpr milliseconds kInterval{100};
  constexpr seconds kSlice{5};
  PARETO_ASSIGN(Neighbours urgent, Neighbours::open("deadline", true));
  PARETO_ASSIGN(Neighbours queued, Neighbours::open("fifo", true));
  PARETO_ASSIGN(const PacedRequests alone, urgent.alone(kInterval, kSlice));
  const double unloaded = statistics::median(alone.latencies);
  const Nanoseconds deadline = from_nanoseconds(4e6 * unloaded);
  int misses = 0;
  int queue_misses = 0;
  int requests = 0;
  std::size_t batch = 0;
  for (int round = 0; round < kRounds; ++round) {
    PARETO_ASSIGN(const PacedRequests first, urgent.beside(kInterval, kSlice, deadline, batch));
    PARETO_ASSIGN(const PacedRequests second, queued.beside(kInterval, kSlice, deadline, batch));
    misses += first.missed(deadline);
    queue_misses += second.missed(deadline);
    requests += first.dropped + static_cast<int>(first.latencies.size());
  }
  // A queue that misses few proves nothing.
  const bool compares = 2 * queue_misses > requests;
  return std::vector<Row>{
      {name, compares ? static_cast<double>(misses) / queue_misses : 1.0, 0.1, false,
       fmt::format("{} of {} {} with {:.0f} ms missed by deadline, {} by fifo{}", misses, requests,
                   kLightModel, to_milliseconds(deadline), queue_misses,
                   compares ? "" : ": too few to compare")}};
}

Expected<std::vector<Row>> limited_share(const std::string& name, const LimitedShare& limit) {
  constexpr seconds kWarmUp{5};
  constexpr seconds kWatched{60};
  PARETO_ASSIGN(const auto daemon, SharedDaemon::start(limit.flags));
  std::vector<std::unique_ptr<SharedPipeline>> pipelines;
  for (const std::string& model : limit.models) {
    PARETO_ASSIGN(pipelines.emplace_back(), SharedPipeline::open(*daemon, model));
  }
  std::vector<std::unique_ptr<BackgroundLoad>> loads;
  for (const auto& pipeline : pipelines) {
    loads.push_back(
        std::make_unique<BackgroundLoad>(*pipeline, 4, kWarmUp + kWatched + seconds(1)));
  }
  const OtherWork others(limit.others);
  std::this_thread::sleep_for(kWarmUp);
  PARETO_ASSIGN(const Nanoseconds before, daemon->cpu_time());
  const TimePoint begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_until(begin + kWatched);
  PARETO_ASSIGN(const Nanoseconds after, daemon->cpu_time());
  const double cores =
      to_seconds(after - before) / to_seconds(std::chrono::steady_clock::now() - begin);
  std::size_t done = 0;
  for (const auto& one : loads) {
    PARETO_ASSIGN(const load::LoadResult result, one->wait());
    done += result.samples.size();
  }
  const double share = 100 * cores / limit.of_cores;
  return std::vector<Row>{
      {name, std::abs(share - limit.percent), 2, false,
       fmt::format("points: {:.1f} % of {} over {:.0f} s, limit {:.0f} %; {} requests, {} other "
                   "threads",
                   share, limit.of_cores == 1 ? "a core" : fmt::format("{} cores", limit.of_cores),
                   to_seconds(kWatched), limit.percent, done, limit.others)}};
}

}  // namespace pareto::bench
