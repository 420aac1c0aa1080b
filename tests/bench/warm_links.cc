#include "tests/bench/warm_links.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "coordinator/statistics/statistics.h"
#include "tests/bench/emulated_daemons.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {
namespace {

constexpr const char* kModel = "mobilenetv2";
constexpr double kWarmBytes = 300e3;
constexpr int kDeployments = 3;
constexpr int kPauses = 2;  // of each deployment
constexpr int kWarm = 8;    // requests in a row before each pause
constexpr auto kPause = std::chrono::seconds(2);
constexpr int kInFlight = 16;
constexpr double kBitsPerSecond = 100e6;
constexpr double kWarmBar = 1.2;

plan::LinkDirection link() {
  return {std::chrono::milliseconds(20), static_cast<std::uint64_t>(kBitsPerSecond), 0};
}

/// The times of requests that no stage computed, in milliseconds.
struct Times {
  std::vector<double> warm;
  std::vector<double> first;
  std::vector<double> after_pause;
  std::vector<double> in_flight;  ///< times between two results, of requests that follow each other
  double boundary_ms = 0;         ///< time that the link takes for what crosses it
};

Expected<std::vector<double>> requests(Pipelines& pipelines, cluster::Deployment& deployment,
                                       int count) {
  PARETO_ASSIGN(const auto result, pipelines.load(deployment, 1, count));
  std::vector<double> times;
  for (const auto& sample : result.samples) {
    Nanoseconds compute{};
    for (const auto& stage : sample.timeline) compute += stage.compute;
    times.push_back(to_milliseconds(sample.latency() - compute));
  }
  return times;
}

/// Once the first of them are through.
Expected<std::vector<double>> between_results(Pipelines& pipelines,
                                              cluster::Deployment& deployment) {
  PARETO_ASSIGN(const auto result, pipelines.load(deployment, kInFlight, 4 * kInFlight));
  std::vector<double> times;
  for (std::size_t i = 2 * kInFlight; i < result.samples.size(); ++i) {
    times.push_back(to_milliseconds(result.samples[i].completed - result.samples[i - 1].completed));
  }
  return times;
}

Expected<Times> measure(Pipelines& pipelines, std::int64_t position) {
  Times times;
  PARETO_ASSIGN(const auto bytes, model::boundary_bytes(pipelines.model().graph(), position, 1));
  times.boundary_ms = static_cast<double>(bytes) * 8e3 / kBitsPerSecond;
  for (int i = 0; i < kDeployments; ++i) {
    PARETO_ASSIGN(const auto deployment, pipelines.deploy({position}));
    for (int pause = 0; pause <= kPauses; ++pause) {
      // The pause itself is what is measured.
      if (pause > 0) std::this_thread::sleep_for(kPause);
      PARETO_ASSIGN(const auto series, requests(pipelines, *deployment, 1 + kWarm));
      (pause == 0 ? times.first : times.after_pause).push_back(series.front());
      times.warm.insert(times.warm.end(), series.begin() + 1 + kWarm / 2, series.end());
    }
    PARETO_ASSIGN(const auto some, between_results(pipelines, *deployment));
    times.in_flight.insert(times.in_flight.end(), some.begin(), some.end());
  }
  return times;
}

nlohmann::json to_json(const Times& times) {
  return {{"warm", times.warm},
          {"first", times.first},
          {"after_pause", times.after_pause},
          {"in_flight", times.in_flight},
          {"boundary_ms", times.boundary_ms}};
}

Expected<Times> measure_over(const std::string& transport, const std::string& congestion_control) {
  PARETO_ASSIGN(const auto daemons, EmulatedDaemons::start(link(), congestion_control));
  PARETO_ASSIGN(auto cluster, daemons->connect());
  PARETO_ASSIGN(const auto pipelines, Pipelines::over(std::move(cluster), kModel, transport));
  const auto& model = pipelines->model();
  const auto* point = best_split_point(model, [&](const auto& p) {
    const auto bytes = model::boundary_bytes(model.graph(), p.position, 1).value_or(0);
    return std::abs(static_cast<double>(bytes) - kWarmBytes);
  });
  if (point == nullptr) return fail(ErrorCode::kInternal, "no split point of one tensor");
  return measure(*pipelines, point->position);
}

Row row(const std::string& name, const std::vector<double>& cold, const std::vector<double>& warm) {
  Row row;
  row.name = name;
  row.ratio = statistics::median(cold) / statistics::median(warm);
  row.bar = kWarmBar;
  row.detail = fmt::format("{:.1f} ms (worst {:.1f}) / {:.1f} ms warm, without compute; {} of them",
                           statistics::median(cold), *std::ranges::max_element(cold),
                           statistics::median(warm), cold.size());
  return row;
}

Row full_link_row(const std::string& name, const std::vector<double>& between, double boundary_ms) {
  Row row;
  row.name = name;
  row.ratio = statistics::mean(between) / boundary_ms;
  row.bar = kWarmBar;
  row.detail = fmt::format("a result every {:.1f} ms / {:.1f} ms of the link each, {} in flight",
                           statistics::mean(between), boundary_ms, kInFlight);
  return row;
}

}  // namespace

Expected<std::vector<Row>> warm_links(const std::string& name, const std::string& transport,
                                      const std::string& congestion_control) {
  PARETO_ASSIGN(const auto times,
                measure_apart("warm-links", {"--transport", transport, "--congestion-control",
                                             congestion_control}));
  const auto of = [&](const char* key) { return times[key].get<std::vector<double>>(); };
  const std::string suffix = name.substr(name.find('/'));
  return std::vector<Row>{row("warm/first_after_deployment" + suffix, of("first"), of("warm")),
                          row("warm/after_idle" + suffix, of("after_pause"), of("warm")),
                          full_link_row("warm/full_link" + suffix, of("in_flight"),
                                        times["boundary_ms"].get<double>())};
}

int run_warm_links(int argc, char** argv) {
  CLI::App app("pipelines over an emulated link");
  int ready_fd = -1;
  std::string transport = "tcp";
  std::string congestion_control = "reno";
  app.add_option("--ready-fd", ready_fd)->required();
  app.add_option("--transport", transport);
  app.add_option("--congestion-control", congestion_control);
  CLI11_PARSE(app, argc, argv);
  return answer_apart(ready_fd, [&]() -> Expected<nlohmann::json> {
    PARETO_ASSIGN(const Times times, measure_over(transport, congestion_control));
    return to_json(times);
  });
}

}  // namespace pareto::bench
