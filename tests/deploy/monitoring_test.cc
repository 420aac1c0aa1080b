// A real Prometheus, with the configuration that is deployed, over two real daemons at work and the
// sweep that keeps them so.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <set>

#include "core/base/duration_histogram.h"
#include "core/metrics/metrics_server.h"
#include "daemon/metrics/machine_sensors.h"
#include "tests/daemon/support/fake_board.h"
#include "tests/deploy/dashboards.h"
#include "tests/e2e/fixture.h"
#include "tests/support/http.h"
#include "tests/support/tls.h"

namespace pareto::test {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kPatience{120};

/// Adds the metrics of `deploy --metrics`, of a pipeline with one more request at each scrape.
void add_deployed_pipeline(metrics::Families& families) {
  static DurationHistogram latency;
  latency.record(std::chrono::milliseconds(20));
  const DurationCounts counts = latency.read();
  families.push_back({"pareto_deploy_info",
                      "1, of the pipeline that is open",
                      metrics::Kind::kGauge,
                      {{{{"pipeline", "00000000000000aa"}, {"model", "tiny"}}, 1, {}}}});
  families.push_back(
      metrics::single("pareto_deploy_up", "1 while it is open", metrics::Kind::kGauge, 1));
  families.push_back({"pareto_deploy_requests_total",
                      "Requests by what became of them",
                      metrics::Kind::kCounter,
                      {{{{"outcome", "ok"}}, static_cast<double>(counts.total()), {}}}});
  families.push_back({"pareto_deploy_latency_seconds",
                      "Latency of requests that were done",
                      metrics::Kind::kHistogram,
                      {{{}, 0, counts}}});
}

/// Returns metrics that no machine that runs tests has for certain: sensors of every kind, and a
/// link that is slow enough to have a rate. And a stage of a device that was profiled. And a
/// deployed pipeline.
metrics::Families board_metrics(const std::filesystem::path& sysfs) {
  metrics::Families families = daemon::machine_sensors(sysfs);
  families.push_back({"pareto_link_rate_bytes_per_second",
                      "Rate to the next stage, seen when the pipeline was deployed",
                      metrics::Kind::kGauge,
                      {{{{"stage", "0"}, {"slot", "0"}}, 1.25e7, {}}}});
  families.push_back({"pareto_stage_profiled_compute_seconds",
                      "What running the shard takes by the device's profile",
                      metrics::Kind::kGauge,
                      {{{{"stage", "0"}, {"slot", "0"}}, 0.01, {}}}});
  families.push_back({"pareto_stage_info",
                      "1, of what a stage that is open runs: operators begin to end of a model",
                      metrics::Kind::kGauge,
                      {{{{"stage", "0"},
                         {"slot", "0"},
                         {"pipeline", "00000000000000aa"},
                         {"model", "tiny"},
                         {"engine", "plain"},
                         {"begin", "0"},
                         {"end", "9"}},
                        1,
                        {}}}});
  add_deployed_pipeline(families);
  metrics::add_label(families, "device", "board");
  return families;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class Monitoring : public EndToEnd {
 protected:
  Monitoring()
      : authority_(folder(), "authority"),
        own_(authority_.issue("prometheus")),
        first_("first", folder(), over_tls()),
        second_("second", folder(), {"--metrics", "127.0.0.1:0"}) {
    daemon::test::make_fake_board(folder() / "sys");
    board_ = metrics::MetricsServer::start("127.0.0.1:0", [sysfs = folder() / "sys"] {
               return board_metrics(sysfs);
             }).value();
  }

  std::vector<std::string> over_tls() const {
    const auto files = authority_.issue("first");
    return {"--metrics",     "127.0.0.1:0", "--metrics-certificate", files.certificate,
            "--metrics-key", files.key,     "--metrics-client-ca",   authority_.certificate()};
  }

  /// Starts a sweep: both daemons have a stage each, and requests, for longer than any test takes.
  void start_sweep() {
    auto arguments = small_sweep(
        {"--devices", inventory({{"first", first_.address()}, {"second", second_.address()}}),
         "--splits", "percent:50", "--transport", "tcp", "--exhaustive", "--report", "none",
         "--metrics", "127.0.0.1:0"});
    // In place of two.
    *(std::ranges::find(arguments, "--rounds") + 1) = "1000";
    arguments.insert(arguments.begin(), "paretoctl");
    sweep_ = std::make_unique<Process>(arguments);
    ASSERT_TRUE(sweep_->wait_for_output("round 1")) << sweep_->errors();
    const std::string key = "metrics at http://";
    const std::string said = sweep_->errors();
    const std::size_t at = said.find(key);
    ASSERT_NE(at, std::string::npos) << said;
    sweep_metrics_ = said.substr(at + key.size(), said.find("/metrics\n", at) - at - key.size());
  }

  /// Starts Prometheus with the files that are deployed, but other targets, and every second.
  void start_prometheus() {
    const std::filesystem::path source = PARETO_SOURCE_DIR "/deploy/prometheus";
    const std::filesystem::path copy = folder() / "prometheus";
    std::filesystem::copy(source, copy, std::filesystem::copy_options::recursive);
    std::string config = slurp((source / "prometheus.yml").string());
    config = replaced(config, "scrape_interval: 15s", "scrape_interval: 1s");
    config = replaced(config, "evaluation_interval: 15s", "evaluation_interval: 1s");
    for (const char* line : {"tls_config:", "  ca_file:", "  cert_file:", "  key_file:"}) {
      config = replaced(config, std::string("# ") + line, line);
    }
    config = replaced(config, "/etc/prometheus/pareto-ca.crt", authority_.certificate());
    config = replaced(config, "/etc/prometheus/pareto-client.crt", own_.certificate);
    config = replaced(config, "/etc/prometheus/pareto-client.key", own_.key);
    std::ofstream(copy / "prometheus.yml") << config;
    std::ofstream(copy / "targets/devices.yml")
        << "- targets: [\"" << first_.metrics()
        << "\"]\n  labels: {device: first, __scheme__: https}\n"
        << "- targets: [\"" << second_.metrics() << "\"]\n  labels: {device: second}\n"
        << "- targets: [\"" << board_->address() << "\"]\n  labels: {device: board}\n";
    std::ofstream(copy / "targets/sweeps.yml") << "- targets: [\"" << sweep_metrics_ << "\"]\n";
    address_ = "127.0.0.1:" + std::to_string(free_port());
    prometheus_ = std::make_unique<Process>(std::vector<std::string>{
        "/usr/bin/prometheus", "--config.file=" + (copy / "prometheus.yml").string(),
        "--storage.tsdb.path=" + path("tsdb"), "--web.listen-address=" + address_});
    ASSERT_TRUE(prometheus_->wait_for_output("Server is ready to receive web requests"))
        << "prometheus is needed: " << prometheus_->errors();
  }

  /// Returns what Prometheus answers now: numbers, without those that are none.
  std::vector<json> ask(const std::string& expression) const {
    const HttpResult answer =
        http_get(address_, "/api/v1/query?query=" + percent_encoded(expression));
    const json parsed = json::parse(answer.body, nullptr, false);
    EXPECT_EQ(answer.status, 200) << expression << ": " << answer.body;
    std::vector<json> results;
    if (answer.status != 200) return results;
    for (const json& result : parsed["data"]["result"]) {
      if (result.is_object() && result["value"][1] != "NaN") results.push_back(result);
    }
    return results;
  }
  /// Returns those that have no answer in time.
  std::vector<DashboardQuery> without_answer(std::vector<DashboardQuery> queries) const {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      std::erase_if(queries,
                    [&](const DashboardQuery& query) { return !ask(query.expression).empty(); });
      if (queries.empty() || std::chrono::steady_clock::now() > deadline) return queries;
      // Until the next scrape; ends at once if Prometheus does.
      prometheus_->wait_for_output("never said", std::chrono::seconds(1));
    }
  }
  bool is_answered(const std::string& expression) const {
    return without_answer({{"", expression}}).empty();
  }

  /// Returns the metrics that there are, asked as Prometheus asks.
  HttpResult scrape(const std::string& address) const {
    if (address != first_.metrics()) return http_get(address, "/metrics");
    return https_get(address, "/metrics", {authority_.certificate(), own_});
  }

  /// Returns the one query of the panel of that name.
  static std::string query_of(const std::string& where) {
    for (const Dashboard& dashboard : dashboards()) {
      for (const DashboardQuery& query : queries_of(dashboard)) {
        if (query.where == where) return query.expression;
      }
    }
    ADD_FAILURE() << "no panel " << where;
    return "";
  }

  const TestAuthority authority_;
  const tls::CertificateFiles own_;  ///< certificate that Prometheus shows
  Daemon first_;
  Daemon second_;
  std::unique_ptr<metrics::MetricsServer> board_;
  std::unique_ptr<Process> sweep_;
  std::string sweep_metrics_;
  std::unique_ptr<Process> prometheus_;
  std::string address_;
};

TEST_F(Monitoring, EveryQueryOfEveryDashboardHasAnAnswer) {
  ASSERT_NO_FATAL_FAILURE(start_sweep());
  ASSERT_NO_FATAL_FAILURE(start_prometheus());
  EXPECT_TRUE(is_answered("count(up == 1) == 4"));
  std::vector<DashboardQuery> queries;
  for (const Dashboard& dashboard : dashboards()) {
    for (DashboardQuery& query : queries_of(dashboard)) queries.push_back(std::move(query));
  }
  EXPECT_GT(queries.size(), 50U);
  // Only a budget says how long is left; this sweep has a number of rounds.
  EXPECT_EQ(std::erase_if(queries,
                          [](const DashboardQuery& query) {
                            return query.expression == "pareto_sweep_left_seconds";
                          }),
            1U);
  for (const DashboardQuery& unanswered : without_answer(queries)) {
    ADD_FAILURE() << unanswered.where << " shows nothing: " << unanswered.expression;
  }
  // Both daemons are at work, each under its own name, and a stage's number is its place in the
  // pipeline.
  EXPECT_TRUE(is_answered("rate(pareto_requests_total{device=\"first\",outcome=\"ok\"}[1m]) > 0"));
  EXPECT_TRUE(is_answered(
      "rate(pareto_requests_total{device=\"second\",stage=\"1\",outcome=\"ok\"}[1m]) > 0"));

  // A request passes both stages of the pipeline, and the fleet counts it once.
  EXPECT_TRUE(
      is_answered("count by (pipeline) (pareto_stage_info{device=~\"first|second\"}) == 2"));
  const std::string requests = query_of("fleet: Requests");
  EXPECT_TRUE(is_answered(requests + " < 1.5 * sum(rate(pareto_requests_total{device=\"first\"}"
                                     "[1m])) > 0"));

  // One of them is asked over TLS, by who shows a certificate.
  EXPECT_EQ(http_get(first_.metrics(), "/metrics").status, 400);
  EXPECT_TRUE(is_answered(
      "pareto_certificate_expiry_timestamp_seconds{device=\"first\",use=\"metrics\"} > time()"));

  // What says it is a metric is one, by Prometheus' own rules.
  for (const std::string& address :
       {first_.metrics(), second_.metrics(), sweep_metrics_, board_->address()}) {
    const HttpResult scraped = scrape(address);
    ASSERT_EQ(scraped.status, 200);
    std::ofstream(path("scraped")) << scraped.body;
    const Finished checked = run({"/bin/sh", "-c", "promtool check metrics <" + path("scraped")});
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    EXPECT_EQ(checked.output + checked.errors, "");
  }

  // The sweep goes, and a daemon: both are missed.
  sweep_->signal(SIGINT);
  EXPECT_EQ(sweep_->wait(), 4) << sweep_->errors();
  second_.process().signal(SIGKILL);
  EXPECT_TRUE(is_answered("up{job=\"pareto-edge\",device=\"second\"} == 0"));
  EXPECT_TRUE(is_answered("ALERTS{alertname=\"ParetoDeviceDown\",device=\"second\"}"));
  EXPECT_TRUE(is_answered("up{job=\"pareto-sweep\"} == 0"));
  EXPECT_TRUE(ask("ALERTS{alertname=\"ParetoDeviceDown\",device=\"first\"}").empty());
}

TEST(Dashboards, ShowOnePipelineOrModel) {
  for (const Dashboard& dashboard : dashboards()) {
    if (dashboard.name == "device") continue;
    std::set<std::string> variables;
    for (const json& variable : dashboard.json.at("templating").at("list")) {
      variables.insert(variable.at("name").get<std::string>());
    }
    EXPECT_TRUE(variables.contains("pipeline")) << dashboard.name;
    EXPECT_TRUE(variables.contains("model")) << dashboard.name;
    int chosen = 0;
    for (const json& panel : dashboard.json.at("panels")) {
      for (const json& target : panel.value("targets", json::array())) {
        const auto query = target.at("expr").get<std::string>();
        const bool by_model = query.find("model=~\"$model\"") != std::string::npos;
        EXPECT_EQ(by_model, query.find("pipeline=~\"$pipeline\"") != std::string::npos) << query;
        chosen += by_model ? 1 : 0;
      }
    }
    EXPECT_GE(chosen, 5) << dashboard.name;
  }
}

TEST(Dashboards, AreWhatGrafanaTakes) {
  std::set<std::string> uids;
  const auto all = dashboards();
  ASSERT_EQ(all.size(), 3U);
  for (const Dashboard& dashboard : all) {
    EXPECT_TRUE(uids.insert(dashboard.json.at("uid").get<std::string>()).second);
    std::set<int> ids;
    for (const json& panel : dashboard.json.at("panels")) {
      EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << dashboard.name;
      const json& place = panel.at("gridPos");
      EXPECT_LE(place.at("x").get<int>() + place.at("w").get<int>(), 24);
      if (panel.at("type") == "row") continue;
      EXPECT_EQ(panel.at("datasource").at("uid"), "${datasource}");
      EXPECT_TRUE(panel.at("fieldConfig").at("defaults").contains("unit")) << panel.at("title");
    }
    for (const DashboardQuery& query : queries_of(dashboard)) {
      EXPECT_EQ(query.expression.find('$'), std::string::npos) << query.expression;
    }
    // Links lead to dashboards that are there.
    for (const json& link : dashboard.json.at("links")) {
      const auto url = link.at("url").get<std::string>();
      EXPECT_TRUE(std::ranges::any_of(all, [&](const Dashboard& other) {
        return url == "/d/" + other.json.at("uid").get<std::string>();
      })) << url;
    }
  }
}

}  // namespace
}  // namespace pareto::test
