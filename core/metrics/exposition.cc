#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>

#include "core/metrics/metric.h"

namespace pareto::metrics {
namespace {

prometheus::MetricType type_of(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return prometheus::MetricType::Counter;
    case Kind::kGauge:
      return prometheus::MetricType::Gauge;
    case Kind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

/// Prometheus counts what is below each bound, not between two.
prometheus::ClientMetric::Histogram cumulative(const DurationCounts& durations) {
  prometheus::ClientMetric::Histogram histogram;
  for (std::size_t i = 0; i < kDurationBounds.size(); ++i) {
    histogram.sample_count += durations.counts[i];
    histogram.bucket.push_back({histogram.sample_count, to_seconds(kDurationBounds[i])});
  }
  histogram.sample_count += durations.counts.back();
  histogram.sample_sum = to_seconds(durations.sum);
  return histogram;
}

prometheus::ClientMetric convert(const Sample& sample, Kind kind) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  switch (kind) {
    case Kind::kCounter:
      metric.counter.value = sample.value;
      break;
    case Kind::kGauge:
      metric.gauge.value = sample.value;
      break;
    case Kind::kHistogram:
      metric.histogram = cumulative(sample.durations);
      break;
  }
  return metric;
}

}  // namespace

std::string exposition(const Families& families) {
  std::vector<prometheus::MetricFamily> converted;
  for (const Family& family : families) {
    if (family.samples.empty()) continue;
    prometheus::MetricFamily& last = converted.emplace_back();
    last.name = family.name;
    last.help = family.help;
    last.type = type_of(family.kind);
    for (const Sample& sample : family.samples) {
      last.metric.push_back(convert(sample, family.kind));
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, converted);
  return text.str();
}

}  // namespace pareto::metrics
