#include "client/report/page_data.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "coordinator/results/figures_json.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/shown_figure.h"
#include "coordinator/results/simulated.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a figure of few digits, six at least, that is printed as the figure itself is: the page
/// rounds what it shows, and what was rounded before may come to lie on the other side of a half.
double rounded(double value) {
  constexpr int kExact = 17;
  for (int digits = 6; digits < kExact; ++digits) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    const double near = std::strtod(text.c_str(), nullptr);
    if (results::shown_figure(near) == results::shown_figure(value)) return near;
  }
  return value;
}

void round_figures(Json& json) {
  if (json.is_number_float()) {
    json = rounded(json.get<double>());
  } else if (json.is_structured()) {
    for (Json& item : json) round_figures(item);
  }
}

/// Returns whether every part of every request is there: as many of each as there are latencies.
bool is_whole(const results::TrialRound& round, std::size_t stages) {
  const std::size_t requests = round.latency_ms.size();
  return round.sink_receive_ms.size() == requests && round.stages.size() == stages &&
         std::ranges::all_of(round.stages, [&](const results::StageSamples& stage) {
           return stage.receive_ms.size() == requests && stage.queue_ms.size() == requests &&
                  stage.compute_ms.size() == requests && stage.encode_ms.size() == requests;
         });
}

/// The place of a request among the samples.
struct Place {
  const results::TrialRound* round = nullptr;
  std::size_t request = 0;
};

/// Returns the request that took nearest to `latency_ms`; none where no round is whole.
Place nearest(const results::TrialRecord& trial, double latency_ms) {
  Place best;
  double least = 0;
  for (const results::TrialRound& round : trial.rounds) {
    if (!is_whole(round, trial.stages.size())) continue;
    for (std::size_t i = 0; i < round.latency_ms.size(); ++i) {
      const double distance = std::abs(round.latency_ms[i] - latency_ms);
      if (best.round != nullptr && distance >= least) continue;
      best = {&round, i};
      least = distance;
    }
  }
  return best;
}

/// Returns half the smallest round trip of link `i`: what its figure has next to the median of
/// receiving.
double half_round_trip_ms(const results::TrialRecord& trial, std::size_t i) {
  double receive_ms = 0;
  if (i < trial.stages.size()) {
    receive_ms = trial.stages[i].receive_p50_ms;
  } else {
    std::vector<double> all;
    for (const results::TrialRound& round : trial.rounds) {
      all.insert(all.end(), round.sink_receive_ms.begin(), round.sink_receive_ms.end());
    }
    receive_ms = statistics::median(all);
  }
  return std::max(0.0, trial.links[i].transfer_p50_ms - receive_ms);
}

Json steps_of(const results::TrialRecord& trial, const Place& place) {
  const auto& [round, request] = place;
  Json steps = Json::array({round->latency_ms[request]});
  for (std::size_t i = 0; i < trial.stages.size(); ++i) {
    const results::StageSamples& stage = round->stages[i];
    steps.push_back(half_round_trip_ms(trial, i) + stage.receive_ms[request]);
    steps.push_back(stage.queue_ms[request]);
    steps.push_back(stage.compute_ms[request]);
    steps.push_back(stage.encode_ms[request]);
  }
  steps.push_back(half_round_trip_ms(trial, trial.stages.size()) + round->sink_receive_ms[request]);
  return steps;
}

/// Returns the requests; null if no request was kept whole.
Json requests_json(const results::TrialRecord& trial) {
  if (trial.links.size() != trial.stages.size() + 1) return {};
  Json requests;
  for (const auto& [name, latency_ms] : {std::pair("p50", trial.latency.measured_p50_ms),
                                         {"p90", trial.latency.p90_ms},
                                         {"p99", trial.latency.p99_ms}}) {
    const Place place = nearest(trial, latency_ms);
    if (place.round == nullptr) return {};
    requests[name] = steps_of(trial, place);
  }
  return requests;
}

/// Returns what all plans of a run say alike, of that which is not a trial's own.
Json common_plan(const Json& trials) {
  Json common;
  for (const Json& trial : trials) {
    const Json& plan = trial["plan"];
    if (common.is_null()) {
      common = plan;
      for (const char* own : {"stages", "splits", "batch"}) common.erase(own);
    }
    for (auto entry = common.begin(); entry != common.end();) {
      const bool same = plan.contains(entry.key()) && plan[entry.key()] == entry.value();
      entry = same ? std::next(entry) : common.erase(entry);
    }
  }
  return common.is_null() ? Json::object() : common;
}

/// Leaves out what stands in `plan`, or elsewhere in the trial.
void make_smaller(Json& trial, const Json& plan) {
  trial.erase("network");
  for (const auto& [key, value] : plan.items()) trial["plan"].erase(key);
  for (const char* known : {"splits", "batch"}) trial["plan"].erase(known);
  if (!trial["split"].is_null()) trial["split"].erase("boundary");
}

}  // namespace

std::string page_data(const results::RunRecord& run) {
  Json document = to_json(run);
  document["adaptive"] = results::is_adaptive(run);
  document["simulated"] = to_string(results::simulated_in(run));
  const bool together = results::simulated_in(run) == results::Simulated::kFigures;
  document["plan"] = common_plan(document["trials"]);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    Json& trial = document["trials"][i];
    make_smaller(trial, document["plan"]);
    // Classes of one scenario ran together: there is no front of them.
    if (together) {
      for (const char* none : {"on_front", "p_front", "p_front_text"}) trial.erase(none);
    }
    if (trial["status"] != "ok") continue;
    if (Json requests = requests_json(run.trials[i]); !requests.is_null()) {
      trial["requests"] = std::move(requests);
    }
  }
  for (Json& entry : document["networks"]) {
    const auto known = std::ranges::find_if(run.trials, [&](const results::TrialRecord& trial) {
      return trial.network && entry["condition"] == trial.condition;
    });
    if (known != run.trials.end()) entry["network"] = results::network_json(*known->network);
  }
  round_figures(document);
  return dump(document);
}

}  // namespace pareto::report
