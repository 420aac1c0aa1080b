#include "tests/bench/pipeline_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "coordinator/statistics/statistics.h"

namespace pareto::bench {
namespace {

using load::RequestSample;
using Centre = std::function<double(std::span<const double>)>;

constexpr int kWarmUp = 20;
constexpr double kLongestResponse = 1.03;

double centre_of(std::span<const RequestSample> samples, const Centre& centre,
                 const std::function<Nanoseconds(const RequestSample&)>& of) {
  std::vector<double> times;
  for (const RequestSample& sample : samples) times.push_back(to_milliseconds(of(sample)));
  return centre(times);
}

std::vector<double> computes(std::span<const RequestSample> samples, const Centre& centre) {
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.front().timeline.size(); ++i) {
    times.push_back(
        centre_of(samples, centre, [i](const auto& sample) { return sample.timeline[i].compute; }));
  }
  return times;
}

/// Returns the larger of the slowest stage's compute and the slowest link's occupancy: a stage does
/// both at the same time.
double bottleneck(std::span<const RequestSample> samples, const Centre& centre) {
  double slowest = centre_of(
      samples, centre, [](const auto& sample) { return sample.sink.receive + sample.sink.decode; });
  for (std::size_t i = 0; i < samples.front().timeline.size(); ++i) {
    const double occupied = centre_of(samples, centre, [i](const auto& sample) {
      return sample.timeline[i].receive + sample.timeline[i].decode;
    });
    slowest = std::max(slowest, occupied);
  }
  return std::max(slowest, std::ranges::max(computes(samples, centre)));
}

double latency(std::span<const RequestSample> samples, const Centre& centre) {
  return centre_of(samples, centre, [](const auto& sample) { return sample.latency(); });
}

}  // namespace

Expected<PipelineFigures> measure_pipeline(load::Load load, const Value& request,
                                           Nanoseconds duration) {
  load::LoadOptions options;
  options.requests = kWarmUp;
  PARETO_TRY(load.run(request, options));
  options.duration = duration;
  PARETO_ASSIGN(const auto alone, load.run(request, options));
  PipelineFigures figures;
  figures.compute = computes(alone.samples, statistics::median);
  figures.latency = latency(alone.samples, statistics::median);
  const double unloaded = bottleneck(alone.samples, statistics::median);
  figures.window = static_cast<int>(std::ceil(figures.latency / unloaded)) + 2;

  options.window = figures.window;
  options.requests = 4 * options.window;
  PARETO_ASSIGN(const auto loaded, load.run(request, options));
  std::vector<double> completions;
  for (const auto& sample : loaded.samples) {
    completions.push_back(to_milliseconds(sample.completed));
  }
  figures.interval = statistics::mean(statistics::steady_intervals(completions, options.window));
  // Those that found the pipe full, and left it so.
  const auto window = static_cast<std::size_t>(options.window);
  const auto steady =
      std::span(loaded.samples).subspan(2 * window, completions.size() - 3 * window);
  figures.bottleneck = bottleneck(steady, statistics::mean);
  figures.response = latency(steady, statistics::mean);
  return figures;
}

std::vector<Row> pipeline_rows(const std::string& name, const PipelineFigures& figures,
                               std::optional<double> bar, const std::string& what) {
  const double allowed = std::max(figures.latency, figures.window * figures.bottleneck);
  std::vector<std::string> stages;
  for (const double time : figures.compute) stages.push_back(fmt::format("{:.2f}", time));
  return {{"efficiency/" + name, figures.bottleneck / figures.interval, bar, true,
           fmt::format("{:.1f}/s, bottleneck {:.3f} ms, window {}; {}: {} ms alone",
                       1e3 / figures.interval, figures.bottleneck, figures.window, what,
                       fmt::join(stages, " + "))},
          {"loaded_response/" + name, figures.response / allowed, kLongestResponse, false,
           fmt::format("{:.2f} ms / max({:.2f}, {} x {:.3f}) ms", figures.response, figures.latency,
                       figures.window, figures.bottleneck)}};
}

}  // namespace pareto::bench
