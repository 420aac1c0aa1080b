#include "core/base/file.h"
#include "daemon/metrics/daemon_metrics.h"
#include "daemon/stage/stage_meter.h"
#include "tests/bench/benches.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/replay_stage.h"

namespace pareto::bench {
namespace {

constexpr int kObserved = 100'000;
constexpr int kScrapes = 20;
constexpr std::uint32_t kStages = 4;
constexpr Nanoseconds kStageTime = std::chrono::milliseconds(1);
constexpr Nanoseconds kScrapeEvery = std::chrono::seconds(1);
constexpr double kMostShare = 0.01;

}  // namespace

Expected<std::vector<Row>> metrics_cost(const std::string& name) {
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("metrics-cost"));
  PARETO_ASSIGN(const auto store, daemon::TensorStore::open(folder.path(), 1 << 30));
  const daemon::ShardCache shards(
      runtime::ShardRunner::load, [&](const Digest& digest) { return store->get(digest); }, 0);
  PARETO_ASSIGN(std::shared_ptr<transport::Transport> tcp, transport::make_transport("tcp"));
  PARETO_ASSIGN(const auto host, daemon::StageHost::listen({}, {tcp}, {{"tcp", "127.0.0.1:0"}}));
  for (std::uint32_t stage = 0; stage < kStages; ++stage) {
    PARETO_TRY(host->open(replay_stage(stage, {{kStageTime}, 4'000})));
  }
  const daemon::MetricsParts parts{*store, shards, *host, "device", ""};
  // All that a request adds to what its stage counted before there were metrics.
  const auto meter = std::make_shared<daemon::StageMeter>();
  const auto count = [&]() -> Expected<> {
    for (int i = 0; i < kObserved; ++i) {
      meter->wait.record(Nanoseconds(i));
      meter->compute.record(kStageTime + Nanoseconds(i));
      ++meter->answered;
    }
    return {};
  };
  const auto scrape = [&]() -> Expected<> {
    for (int i = 0; i < kScrapes; ++i) {
      if (metrics::exposition(daemon::daemon_metrics(parts)).empty()) {
        return fail(ErrorCode::kInternal, "there are no metrics");
      }
    }
    return {};
  };
  PARETO_ASSIGN(const auto minima, interleaved_minima({count, scrape}, std::chrono::seconds(1), 5));
  const double counting = to_nanoseconds(minima[0]) / kObserved;
  const double scraping = to_nanoseconds(minima[1]) / kScrapes;
  const double share =
      counting / to_nanoseconds(kStageTime) + scraping / to_nanoseconds(kScrapeEvery);
  return std::vector<Row>{
      {name, share / kMostShare, 1.0, false,
       fmt::format("{:.3f} % / {:.0f} % of a stage of {} ms: {:.0f} ns a request, and {:.2f} ms a "
                   "scrape of {} stages every second",
                   share * 100, kMostShare * 100, kStageTime.count() / 1'000'000, counting,
                   scraping / 1e6, kStages)}};
}

}  // namespace pareto::bench
