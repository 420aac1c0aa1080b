// Values in, Prometheus' text out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metrics/metric.h"
#include "core/metrics/process_metrics.h"

namespace pareto::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Exposition, CountersAndGaugesWithTheirLabels) {
  Families families{
      {"pareto_requests_total",
       "Requests",
       Kind::kCounter,
       {{{{"stage", "0"}, {"outcome", "ok"}}, 12345678901.0, {}}, {{{"stage", "1"}}, 0, {}}}},
      single("pareto_shards", "Shards", Kind::kGauge, 0.5)};
  add_label(families, "device", "a \"pi\"\\\n");
  const std::string text = exposition(families);
  EXPECT_THAT(text, HasSubstr("# HELP pareto_requests_total Requests\n"
                              "# TYPE pareto_requests_total counter\n"));
  EXPECT_THAT(text, HasSubstr("pareto_requests_total{stage=\"0\",outcome=\"ok\","
                              "device=\"a \\\"pi\\\"\\\\\\n\"} 12345678901"));
  EXPECT_THAT(text, HasSubstr("# TYPE pareto_shards gauge\npareto_shards{device="));
}

TEST(Exposition, AHistogramIsCumulativeInSeconds) {
  DurationHistogram histogram;
  histogram.record(std::chrono::microseconds(50));
  histogram.record(std::chrono::milliseconds(3));
  histogram.record(std::chrono::milliseconds(4));
  histogram.record(std::chrono::minutes(2));
  Family family{"pareto_x_seconds", "Times", Kind::kHistogram, {{{}, 0, histogram.read()}}};
  const std::string text = exposition({family});
  EXPECT_THAT(text, HasSubstr("# TYPE pareto_x_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("pareto_x_seconds_count 4\n"));
  EXPECT_THAT(text, HasSubstr("pareto_x_seconds_sum 120.00705"));
  // Each bound holds what is below it; the numbers are written as numbers, however many digits.
  const auto bucket = [&](double bound) {
    const std::string key = "pareto_x_seconds_bucket{le=\"";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      if (std::stod(text.substr(at + key.size())) == bound) {
        return std::stoi(text.substr(text.find("} ", at) + 2));
      }
    }
    return -1;
  };
  EXPECT_EQ(bucket(0.0001), 1);
  EXPECT_EQ(bucket(0.002), 1);
  EXPECT_EQ(bucket(0.005), 3);
  EXPECT_EQ(bucket(60), 3);
  EXPECT_THAT(text, HasSubstr("pareto_x_seconds_bucket{le=\"+Inf\"} 4\n"));
}

TEST(Exposition, WhatHasNoSamplesIsLeftOut) {
  EXPECT_EQ(exposition({{"pareto_absent", "Nothing", Kind::kGauge, {}}}), "");
}

TEST(ProcessMetrics, AreThereAndPlausible) {
  const Families families = process_metrics();
  const auto value = [&](const std::string& name) {
    for (const Family& family : families) {
      if (family.name == name) return family.samples.at(0).value;
    }
    ADD_FAILURE() << name << " is missing";
    return -1.0;
  };
  EXPECT_GT(value("process_cpu_seconds_total"), 0);
  EXPECT_GT(value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(value("process_open_fds"), 3);
  EXPECT_GE(value("process_max_fds"), value("process_open_fds"));
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_LE(value("process_start_time_seconds"), now.count() + 1);
  EXPECT_GT(value("process_start_time_seconds"), now.count() - 3600);
  EXPECT_THAT(exposition(families), Not(HasSubstr(" Nan")));
}

}  // namespace
}  // namespace pareto::metrics
