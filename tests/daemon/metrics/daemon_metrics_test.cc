// What a daemon says of what it did.
#include "daemon/metrics/daemon_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "core/base/file.h"
#include "core/control/pipeline_name.h"
#include "core/transport/silence.h"
#include "tests/daemon/support/fake_board.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"
#include "tests/support/tls.h"

namespace pareto::daemon {
namespace {

using metrics::Families;
using metrics::Family;
using metrics::Labels;
using metrics::Sample;
using test::FakeRuns;
using test::request_message;
using test::soon;
using test::TwoStages;

class DaemonMetrics : public testing::Test {
 protected:
  DaemonMetrics()
      : folder_(TemporaryFolder::create("metrics").value()),
        store_(TensorStore::open(folder_.path() / "store", 1 << 20).value()),
        transport_(transport::make_transport("inproc").value()),
        cache_(
            test::fake_runners(runs_), [](const Digest&) -> Expected<Tensor> { return Tensor(); },
            1 << 30),
        shard_(cache_.load(test::make_shard(), {}).value().shard) {}

  std::unique_ptr<TwoStages> open() {
    auto opened = TwoStages::open(transport_, "", shard_, shard_);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  MetricsParts parts(const StageHost& host) const {
    const auto memory = [] { return MemoryReading{10, 20, 400, 1000, 5}; };
    return {*store_,           cache_, host, "pi-2", "1.13.1", memory, folder_.path() / "sys",
            certificate_.get()};
  }
  void give_certificate() {
    const pareto::test::TestAuthority authority(folder_.path(), "authority");
    certificate_ = tls::ServerCertificate::load(authority.issue("device")).value();
  }
  Families read(const StageHost& host) const { return daemon_metrics(parts(host)); }

  static void exchange(const TwoStages& pipeline, int requests) {
    for (int i = 0; i < requests; ++i) {
      ASSERT_TRUE(pipeline.source->send(request_message(TwoStages::kPipeline, i, 1.F), soon()));
      ASSERT_TRUE(pipeline.sink->receive(soon()));
    }
  }
  /// Returns the sample with these labels among its own.
  static std::optional<Sample> find(const Families& families, const std::string& name,
                                    const Labels& labels = {}) {
    for (const Family& family : families) {
      if (family.name != name) continue;
      for (const Sample& sample : family.samples) {
        const std::set<Labels::value_type> own(sample.labels.begin(), sample.labels.end());
        if (std::ranges::all_of(labels, [&](const auto& one) { return own.contains(one); })) {
          return sample;
        }
      }
    }
    return {};
  }
  static double value(const Families& families, const std::string& name,
                      const Labels& labels = {}) {
    const auto sample = find(families, name, labels);
    EXPECT_TRUE(sample) << name << " is missing";
    return sample ? sample->value : -1;
  }
  /// A counter may be counted after the request has gone to the sink.
  void expect_reaches(const StageHost& host, const std::string& name, const Labels& labels,
                      double wanted) const {
    const TimePoint deadline = soon();
    double seen = value(read(host), name, labels);
    while (seen != wanted && std::chrono::steady_clock::now() < deadline) {
      seen = value(read(host), name, labels);
    }
    EXPECT_EQ(seen, wanted) << name;
  }

  TemporaryFolder folder_;
  std::unique_ptr<TensorStore> store_;
  std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  std::shared_ptr<transport::Transport> transport_;
  ShardCache cache_;
  std::shared_ptr<LoadedShard> shard_;
  std::shared_ptr<tls::ServerCertificate> certificate_;
};

TEST_F(DaemonMetrics, CountsWhatStagesDo) {
  const auto pipeline = open();
  exchange(*pipeline, 20);
  const StageHost& first = *pipeline->hosts[0];
  const Labels stage0{{"stage", "0"}, {"slot", "0"}};
  expect_reaches(first, "pareto_requests_total", {{"stage", "0"}, {"slot", "0"}, {"outcome", "ok"}},
                 20);
  expect_reaches(first, "pareto_requests_in_flight", stage0, 0);
  const Families families = read(first);
  EXPECT_EQ(find(families, "pareto_stage_compute_seconds", stage0)->durations.total(), 20U);
  EXPECT_GT(find(families, "pareto_stage_compute_seconds", stage0)->durations.sum, Nanoseconds(0));
  EXPECT_EQ(find(families, "pareto_stage_wait_seconds", stage0)->durations.total(), 20U);
  EXPECT_EQ(value(families, "pareto_requests_total", {{"outcome", "failed"}}), 0);
  EXPECT_EQ(value(families, "pareto_stages", {{"state", "running"}}), 1);
  EXPECT_EQ(value(families, "pareto_stages", {{"state", "failed"}}), 0);
  EXPECT_EQ(value(families, "pareto_link_round_trip_seconds", stage0),
            to_seconds(pipeline->round_trip));
  // The last stage's sink is not primed from here.
  const Families last = read(*pipeline->hosts[1]);
  EXPECT_TRUE(find(last, "pareto_requests_total", {{"stage", "1"}}));
  EXPECT_FALSE(find(last, "pareto_link_round_trip_seconds"));
}

TEST_F(DaemonMetrics, SaysWhatAnOpenStageRuns) {
  const auto pipeline = open();
  StageHost& first = *pipeline->hosts[0];
  const Labels place{{"stage", "0"}, {"slot", "0"}};
  const Families families = read(first);
  const auto info = find(families, "pareto_stage_info", place);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->value, 1);
  const plan::Shard& shard = shard_->shard();
  const std::map<std::string, std::string> labels(info->labels.begin(), info->labels.end());
  EXPECT_EQ(labels.at("pipeline"), control::pipeline_name(TwoStages::kPipeline));
  EXPECT_EQ(labels.at("model"), shard.model);
  EXPECT_EQ(labels.at("engine"), shard_->report().engine);
  EXPECT_EQ(labels.at("begin"), std::to_string(shard.begin));
  EXPECT_EQ(labels.at("end"), std::to_string(shard.end));
  // Its labels are those of the stage's figures: a query can join them.
  EXPECT_TRUE(find(families, "pareto_requests_total", place));
  ASSERT_TRUE(first.close(TwoStages::kPipeline, 0));
  EXPECT_FALSE(find(read(first), "pareto_stage_info")) << "the stage is gone";
}

TEST_F(DaemonMetrics, SayWhatEachWorkerComputes) {
  runs_->workers = {std::chrono::seconds(3), std::chrono::seconds(1)};
  runtime::RunnerOptions options;
  options.schedule = "clusters";
  const auto scheduled = cache_.load(test::make_shard(), options).value().shard;
  const auto pipeline = TwoStages::open(transport_, "", scheduled, shard_).value();
  exchange(*pipeline, 2);
  StageHost& first = *pipeline->hosts[0];
  const Labels second_worker{{"stage", "0"}, {"slot", "0"}, {"worker", "1"}};
  expect_reaches(first, "pareto_stage_worker_seconds_total", {{"worker", "0"}}, 6);
  EXPECT_EQ(value(read(first), "pareto_stage_worker_seconds_total", second_worker), 2);
  EXPECT_FALSE(find(read(*pipeline->hosts[1]), "pareto_stage_worker_seconds_total"))
      << "it has no schedule";
  ASSERT_TRUE(first.close(TwoStages::kPipeline, 0));
  EXPECT_EQ(value(read(first), "pareto_stage_worker_seconds_total", second_worker), 2);
}

TEST_F(DaemonMetrics, FailuresAreAnOutcome) {
  runs_->on_run = [](int run) -> Expected<> {
    if (run == 0) return fail(ErrorCode::kInternal, "broken");
    return {};
  };
  const auto pipeline = open();
  exchange(*pipeline, 2);
  const StageHost& first = *pipeline->hosts[0];
  expect_reaches(first, "pareto_requests_total", {{"outcome", "failed"}}, 1);
  expect_reaches(first, "pareto_requests_total", {{"outcome", "ok"}}, 1);
  expect_reaches(first, "pareto_requests_in_flight", {}, 0);
  EXPECT_EQ(find(read(first), "pareto_stage_compute_seconds")->durations.total(), 1U);
  // A source that hangs up without a word.
  pipeline->source->close();
  expect_reaches(first, "pareto_stage_failures_total", {}, 1);
  expect_reaches(first, "pareto_stages", {{"state", "failed"}}, 1);
}

TEST_F(DaemonMetrics, AnUpstreamThatBreaksItsPromiseToShowLifeIsASilentLink) {
  const auto pipeline =
      TwoStages::open(transport_, "", shard_, shard_, 4, transport::kShortestBeat).value();
  const StageHost& first = *pipeline->hosts[0];
  EXPECT_EQ(value(read(first), "pareto_stage_silent_links_total"), 0);
  expect_reaches(first, "pareto_stage_silent_links_total", {}, 1);
  expect_reaches(first, "pareto_stage_failures_total", {}, 1);
  EXPECT_EQ(value(read(*pipeline->hosts[1]), "pareto_stage_silent_links_total"), 0)
      << "it was told that the link is closed";
}

TEST_F(DaemonMetrics, DroppedRequestsAreAnOutcomeOfTheirOwn) {
  const auto pipeline = open();
  const StageHost& first = *pipeline->hosts[0];
  wire::Message late = request_message(TwoStages::kPipeline, 0, 1.F);
  late.time_left = Nanoseconds(1);
  ASSERT_TRUE(pipeline->source->send(late, soon()));
  ASSERT_TRUE(pipeline->sink->receive(soon()));
  exchange(*pipeline, 1);
  expect_reaches(first, "pareto_requests_total", {{"outcome", "dropped"}}, 1);
  expect_reaches(first, "pareto_requests_total", {{"outcome", "ok"}}, 1);
  const Families families = read(first);
  EXPECT_EQ(value(families, "pareto_requests_total", {{"outcome", "failed"}}), 0);
  EXPECT_EQ(find(families, "pareto_stage_turn_wait_seconds")->durations.total(), 1U);
  EXPECT_GE(value(families, "pareto_device_cores"), 1);
  EXPECT_EQ(value(families, "pareto_device_requests_waiting"), 0);
  EXPECT_FALSE(find(families, "pareto_device_busy_limit_ratio"));
}

TEST_F(DaemonMetrics, CountsStayWhenThePipelineEnds) {
  const auto pipeline = open();
  exchange(*pipeline, 7);
  StageHost& first = *pipeline->hosts[0];
  expect_reaches(first, "pareto_requests_total", {{"outcome", "ok"}}, 7);
  const double received = value(read(first), "pareto_link_received_bytes_total");
  EXPECT_GT(received, 7 * 16);
  ASSERT_TRUE(first.close(TwoStages::kPipeline, 0));
  const Families after = read(first);
  EXPECT_EQ(value(after, "pareto_requests_total", {{"outcome", "ok"}}), 7);
  EXPECT_EQ(value(after, "pareto_link_received_bytes_total"), received);
  EXPECT_EQ(value(after, "pareto_stages", {{"state", "running"}}), 0);
  EXPECT_FALSE(find(after, "pareto_link_round_trip_seconds"));
}

TEST_F(DaemonMetrics, SaysWhatTheDeviceHolds) {
  const auto host = test::host_on(transport_, "").value();
  const Families families = read(*host);
  EXPECT_EQ(value(families, "pareto_build_info", {{"version", PARETO_VERSION}}), 1);
  EXPECT_EQ(value(families, "pareto_shards"), 1);
  EXPECT_EQ(value(families, "pareto_shard_memory_limit_bytes"), 1 << 30);
  EXPECT_EQ(value(families, "pareto_store_limit_bytes"), 1 << 20);
  EXPECT_GT(value(families, "pareto_store_free_bytes"), 0);
  EXPECT_EQ(value(families, "pareto_machine_memory_bytes"), 1000);
  EXPECT_EQ(value(families, "pareto_machine_memory_available_bytes"), 400);
  for (const Family& family : families) {
    for (const Sample& sample : family.samples) {
      EXPECT_EQ(sample.labels.back(), (Labels::value_type{"device", "pi-2"})) << family.name;
    }
  }
}

TEST_F(DaemonMetrics, SayWhenTheirCertificateExpires) {
  const auto pipeline = open();
  EXPECT_FALSE(find(read(*pipeline->hosts[0]), "pareto_certificate_expiry_timestamp_seconds"));
  give_certificate();
  EXPECT_EQ(value(read(*pipeline->hosts[0]), "pareto_certificate_expiry_timestamp_seconds",
                  {{"use", "metrics"}, {"device", "pi-2"}}),
            static_cast<double>(certificate_->expiry().time_since_epoch().count()));
}

TEST_F(DaemonMetrics, AreAllListedInTheirManual) {
  test::make_fake_board(folder_.path() / "sys");
  give_certificate();
  const auto pipeline = open();
  pipeline->hosts[0]->turns().set_busy(0.5);
  const std::string manual = read_file(PARETO_SOURCE_DIR "/daemon/metrics/METRICS.md").value();
  static const std::regex kRow(R"(\| `(pareto_[a-z_]+)` \| ([a-z]+) \|)");
  std::map<std::string, std::string> listed;
  for (auto row = std::sregex_iterator(manual.begin(), manual.end(), kRow);
       row != std::sregex_iterator(); ++row) {
    EXPECT_TRUE(listed.emplace((*row)[1], (*row)[2]).second) << (*row)[1] << " stands twice";
  }
  std::set<std::string> exposed;
  for (const Family& family : read(*pipeline->hosts[0])) {
    exposed.insert(family.name);
    if (!family.name.starts_with("pareto_")) continue;
    const char* const kind = family.kind == metrics::Kind::kCounter ? "counter"
                             : family.kind == metrics::Kind::kGauge ? "gauge"
                                                                    : "histogram";
    EXPECT_EQ(listed[family.name], kind) << family.name;
    EXPECT_FALSE(family.help.empty() || family.help.ends_with('.')) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.kind == metrics::Kind::kCounter)
        << family.name;
  }
  for (const auto& [name, kind] : listed) {
    if (name.starts_with("pareto_sweep_") || name.starts_with("pareto_deploy_")) continue;
    // inproc is too fast for a rate.
    EXPECT_TRUE(exposed.contains(name) || name == "pareto_link_rate_bytes_per_second") << name;
  }
}

}  // namespace
}  // namespace pareto::daemon
