// Content of a scrape, as values: families of samples. They are made for each scrape and kept
// nowhere.
//
//   plain counters of the parts --read--> Families --exposition--> text
//       --MetricsServer--> Prometheus
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/duration_histogram.h"

namespace pareto::metrics {

enum class Kind {
  kCounter,    ///< only grows; its name ends in _total
  kGauge,      ///< goes up and down
  kHistogram,  ///< histogram of durations, in seconds
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  Labels labels;
  double value = 0;          ///< value of counters and gauges
  DurationCounts durations;  ///< durations of histograms
};

/// Samples of one name; no two with the same labels.
struct Family {
  std::string name;  ///< name in base units, which it ends with: "pareto_stage_compute_seconds"
  std::string help;  ///< a sentence without its full stop
  Kind kind = Kind::kGauge;
  std::vector<Sample> samples;
};
using Families = std::vector<Family>;

/// The function that a scrape calls, from one thread at a time.
using Collect = std::function<Families()>;

/// Makes a family of one sample without labels.
inline Family single(std::string name, std::string help, Kind kind, double value) {
  return {std::move(name), std::move(help), kind, {{{}, value, {}}}};
}

/// Gives every sample one label more.
inline void add_label(Families& families, const std::string& name, const std::string& value) {
  for (Family& family : families) {
    for (Sample& sample : family.samples) sample.labels.emplace_back(name, value);
  }
}

/// Writes the families in Prometheus' text format 0.0.4. Families without samples are left out.
std::string exposition(const Families& families);

}  // namespace pareto::metrics
