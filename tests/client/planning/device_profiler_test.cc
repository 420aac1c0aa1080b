#include "client/planning/device_profiler.h"

#include <gmock/gmock.h>

#include "core/transport/transport.h"
#include "tests/client/support/fake_daemon.h"
#include "tests/client/support/fake_workload.h"

namespace pareto::client {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class DeviceProfiler : public testing::Test {
 protected:
  DeviceProfiler() {
    daemon_.set_operator_time(milliseconds(2), milliseconds(1));
    wish_.model = "ten";
    wish_.model_digest = std::string(64, 'a');
    wish_.operators = kFakeOperators;
    wish_.cuts = {3, 7};
  }

  Expected<DeviceProfile> profile(const DeviceProfile* known = nullptr) {
    return profile_device(
        daemon_, pool_, wish_, known, stop_,
        [&](std::size_t done, std::size_t total) { progress_.emplace_back(done, total); });
  }

  std::unique_ptr<transport::Transport> transport_ = transport::make_transport("inproc").value();
  FakeDaemon daemon_{"pi-1", *transport_};
  FakeWorkload workload_;
  ShardPool pool_{workload_};
  ProfileWish wish_;
  std::atomic<bool> stop_{false};
  std::vector<std::pair<std::size_t, std::size_t>> progress_;
};

std::vector<std::int64_t> in_ms(const DeviceProfile& profile) {
  std::vector<std::int64_t> times;
  for (const ShardTime& shard : profile.shards) {
    times.push_back((shard.median.count() + 500'000) / 1'000'000);
  }
  return times;
}

TEST_F(DeviceProfiler, TimesBothSidesOfEveryCut) {
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->device, "pi-1");
  EXPECT_EQ(measured->operators, std::vector<Nanoseconds>(10, milliseconds(2)));
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const ShardTime& shard : measured->shards) ranges.emplace_back(shard.begin, shard.end);
  EXPECT_THAT(ranges, ElementsAre(std::pair(0, 3), std::pair(0, 7), std::pair(0, 10),
                                  std::pair(3, 10), std::pair(7, 10)));
  EXPECT_THAT(in_ms(*measured), ElementsAre(7, 15, 21, 15, 7));
  EXPECT_THAT(progress_, ElementsAre(std::pair(1, 2), std::pair(2, 2)));
  EXPECT_TRUE(device_profile_from_json(to_json(*measured))) << "it can be kept";
}

TEST_F(DeviceProfiler, MeasuresOnlyWhatIsNotKnown) {
  const auto first = profile();
  ASSERT_TRUE(first);
  EXPECT_EQ(missing_cuts(*first, wish_), std::vector<std::int64_t>{});
  wish_.cuts = {3, 5};
  EXPECT_THAT(missing_cuts(*first, wish_), ElementsAre(5));
  // Half as fast as before: what was known keeps its share of the whole.
  daemon_.set_operator_time(milliseconds(4), milliseconds(2));
  const int loads = daemon_.loads();
  const auto both = profile(&*first);
  ASSERT_TRUE(both);
  EXPECT_EQ(daemon_.loads(), loads + 2) << "the two sides of the new cut";
  EXPECT_THAT(in_ms(*both), ElementsAre(14, 22, 30, 42, 30, 22, 14));
}

TEST_F(DeviceProfiler, StopsWithWhatThereIs) {
  stop_ = true;
  const auto measured = profile();
  ASSERT_TRUE(measured);
  EXPECT_THAT(in_ms(*measured), ElementsAre(21));
}

TEST_F(DeviceProfiler, FailsAsTheDeviceDoes) {
  daemon_.die();
  const auto measured = profile();
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(measured.error().message, HasSubstr("operators 0 to 10"));
}

TEST_F(DeviceProfiler, KeysTellProfilesApart) {
  const std::string key = profile_key(daemon_, wish_);
  const auto measured = profile();
  ASSERT_TRUE(measured);
  EXPECT_EQ(profile_key(*measured), key);
  wish_.settings.batch = 8;
  EXPECT_NE(profile_key(daemon_, wish_), key);
  wish_.settings.batch = 1;
  wish_.settings.precision = "bf16";
  EXPECT_NE(profile_key(daemon_, wish_), key);
}

}  // namespace
}  // namespace pareto::client
