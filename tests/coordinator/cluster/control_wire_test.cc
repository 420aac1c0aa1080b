#include "coordinator/cluster/control_wire.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>

namespace pareto::cluster {
namespace {

namespace v1 = control::v1;

TEST(ControlWire, RefusesTimesThatNoClockGives) {
  v1::MeasureCodecsReply costs;
  costs.add_costs()->set_encode_ns(-1);
  EXPECT_EQ(from_wire(costs).error().code, ErrorCode::kCorrupt);
  v1::ProfileReply times;
  times.add_operators()->set_median_ns(INT64_MAX);
  EXPECT_EQ(from_wire(times).error().code, ErrorCode::kCorrupt);
  v1::ProbeLinkReply probe;
  probe.add_points()->set_crossing_ns(INT64_MIN);
  EXPECT_EQ(from_wire(probe).error().code, ErrorCode::kCorrupt);
  v1::MeasureRateReply rate;
  rate.set_bytes_per_second(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(from_wire(rate).error().code, ErrorCode::kCorrupt);
}

TEST(ControlWire, TakesACrossingThatSeemsToEndBeforeItBegins) {
  v1::ProbeLinkReply probe;
  probe.add_points()->set_crossing_ns(-5);
  EXPECT_EQ(from_wire(probe).value().points.front().crossing, Nanoseconds(-5));
}

TEST(ControlWire, KeepsWhatADeviceSaysOfItselfInRange) {
  v1::DescribeReply reply;
  reply.set_cores(UINT32_MAX);
  reply.set_cpu_quota(std::numeric_limits<double>::quiet_NaN());
  reply.set_certificate_expires(INT64_MAX);
  const DeviceInfo info = from_wire(reply, "192.0.2.1:7070");
  EXPECT_GT(info.cores, 0);
  EXPECT_EQ(info.cpu_quota, 0);
  const auto day = std::chrono::floor<std::chrono::days>(*info.certificate_expires);
  EXPECT_EQ(std::chrono::year_month_day(day).year(), std::chrono::year(9999));
}

}  // namespace
}  // namespace pareto::cluster
