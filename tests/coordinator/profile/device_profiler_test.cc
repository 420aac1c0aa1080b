#include "coordinator/profile/device_profiler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::profile {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::SizeIs;

/// The time that the fakes say they take: less than their messages really do.
constexpr Nanoseconds kUnit(100);

transport::ProbeResult free_link() {
  transport::ProbeResult link;
  link.points.resize(1);
  return link;
}

class DeviceProfiler : public testing::Test {
 protected:
  DeviceProfiler() {
    cluster_ = cluster::Cluster::of(test::fake_devices({"pi-1", "pi-2"}, transport_, daemons_));
    daemons_[0]->set_operator_time(2 * kUnit, kUnit);
    daemons_[1]->set_operator_time(3 * kUnit, Nanoseconds(0));
    request_.model = "ten";
    request_.model_digest = std::string(64, 'a');
    request_.operators = test::kFakeOperators;
    request_.cuts = {3, 7};
  }

  Expected<std::vector<plan::DeviceProfile>> profile() {
    const std::vector<planning::ProbedTransport> probed{{"memory", links_}};
    const ProfileBench bench{
        *cluster_, pool_, transports_, probed, Value{Tuple{workload_.example(1, 1).value()}},
        timeout_};
    return profile_devices(bench, request_, known_, stop_,
                           [&](const ProfileProgress& at) { progress_.push_back(at); });
  }

  /// Returns how often a cut was timed.
  std::size_t visits() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(progress_, [](const ProfileProgress& at) { return at.done > 0; }));
  }

  test::MemoryTransport transport_;
  cluster::TransportSet transports_{test::sharing(transport_)};
  std::vector<test::FakeDaemon*> daemons_;
  std::optional<cluster::Cluster> cluster_;
  test::FakeWorkload workload_;
  cluster::ShardPool pool_{workload_};
  /// Links that take no time.
  planning::ProbedLinks links_{3, std::vector<transport::ProbeResult>(3, free_link())};
  ProfileRequest request_;
  std::vector<std::optional<plan::DeviceProfile>> known_{2};
  std::atomic<bool> stop_{false};
  milliseconds timeout_ = load::kRequestTimeout;
  std::vector<ProfileProgress> progress_;
};

std::vector<std::int64_t> in_units(const plan::DeviceProfile& profile) {
  std::vector<std::int64_t> times;
  for (const plan::ShardTime& shard : profile.shards) {
    times.push_back((shard.alone.count() + kUnit.count() / 2) / kUnit.count());
  }
  return times;
}

std::vector<plan::OperatorRange> ranges_of(const plan::DeviceProfile& profile) {
  std::vector<plan::OperatorRange> ranges;
  for (const plan::ShardTime& shard : profile.shards) ranges.push_back({shard.begin, shard.end});
  return ranges;
}

using Ranges = std::vector<plan::OperatorRange>;

TEST(SettingsText, LeavesOutWhatDevicesChoose) {
  EXPECT_EQ(settings_text({}), "batch 1, fp32");
  EXPECT_EQ(settings_text({{"plain", "bf16", 2}, 8}), "batch 8, 2 threads, engine plain, bf16");
  EXPECT_EQ(settings_text({{"auto", "fp32", 1}, 8}), "batch 8, 1 thread, fp32");
  EXPECT_EQ(settings_text({{"auto", "fp32", 0, 0, "mixed"}, 8}), "batch 8, fp32, schedule mixed");
  EXPECT_EQ(settings_text({}, {{"pi-1", {"auto", "bf16", 2, 0.1}}, {"pi-2", {"plain"}}}),
            "batch 1, fp32; pi-1: 2 threads, bf16 off by at most 10 %; pi-2: engine plain, fp32");
}

TEST_F(DeviceProfiler, TimesBothSidesOfEveryCutOnEveryDevice) {
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  const plan::DeviceProfile& first = measured->front();
  EXPECT_EQ(first.device, "pi-1");
  EXPECT_EQ(first.operators, std::vector<Nanoseconds>(10, 2 * kUnit));
  EXPECT_EQ(ranges_of(first), (Ranges{{0, 3}, {0, 7}, {0, 10}, {3, 10}, {7, 10}}));
  EXPECT_EQ(first.too_large, Ranges());
  EXPECT_THAT(in_units(first), ElementsAre(7, 15, 21, 15, 7));
  EXPECT_THAT(in_units(measured->back()), ElementsAre(9, 21, 30, 21, 9));
  EXPECT_GT(first.overhead.count(), 0) << "links that take no time explain nothing of a latency";
  for (const plan::ShardTime& shard : first.shards) {
    EXPECT_GT(shard.busy.count(), 0);
    EXPECT_EQ(shard.output_bytes, 16U) << "what crosses between any two of the fake model";
  }
  ASSERT_THAT(progress_, SizeIs(6U)) << "two passes of two cuts";
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    EXPECT_EQ(progress_[i].pass, i < 3 ? 1 : 2) << i;
    EXPECT_EQ(progress_[i].done, i % 3) << i;
    EXPECT_EQ(progress_[i].total, 2U) << i;
    EXPECT_FALSE(progress_[i].again) << i;
  }
  EXPECT_TRUE(plan::device_profile_from_json(to_json(first))) << "it can be kept";
}

TEST_F(DeviceProfiler, AModelThatMadeUpRequestsDoNotFitIsTimedOnRealOnes) {
  daemons_[0]->refuse_examples();
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_THAT(in_units(measured->front()), ElementsAre(7, 15, 21, 15, 7));
  EXPECT_EQ(measured->front().operators, std::vector<Nanoseconds>(10, Nanoseconds(1)))
      << "all weigh the same";
  EXPECT_EQ(measured->back().operators, std::vector<Nanoseconds>(10, 3 * kUnit));
  EXPECT_TRUE(plan::device_profile_from_json(to_json(measured->front()))) << "it can be kept";
}

TEST_F(DeviceProfiler, KeepsHowUnevenlyTheWholeModelWorked) {
  daemons_[0]->set_sway(7 * kUnit);
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_THAT(measured->back().jitter, AllOf(SizeIs(Ge(20U)), Each(1.0)))
      << "two passes of two cuts, five requests each or more";
  const std::vector<double>& swaying = measured->front().jitter;
  ASSERT_GE(swaying.size(), 20U);
  ASSERT_LE(swaying.size(), plan::kMostJitterFactors);
  // 21 units and 28 in turns; where one load ends and the next begins two may be alike: there is
  // one each time a cut comes.
  std::size_t turns = 0;
  for (std::size_t i = 1; i < swaying.size(); ++i) {
    const double ratio =
        std::max(swaying[i - 1], swaying[i]) / std::min(swaying[i - 1], swaying[i]);
    if (std::abs(ratio - 28.0 / 21) < 1e-9) ++turns;
  }
  EXPECT_GE(turns, swaying.size() - visits());
}

TEST_F(DeviceProfiler, WhatIsNotTheSameEachTimeComesAgain) {
  const auto visits_at = [&](Nanoseconds sway) {
    progress_.clear();
    daemons_[1]->set_sway(sway);
    EXPECT_TRUE(profile());
    return visits();
  };
  EXPECT_EQ(visits_at(Nanoseconds(0)), 4U) << "two passes of two cuts";
  EXPECT_GT(visits_at(7 * kUnit), 4U);
  EXPECT_LE(visits(), 16U);
  EXPECT_TRUE(progress_.back().again);
  EXPECT_EQ(progress_.back().done, progress_.back().total);
  for (std::size_t i = 1; i < progress_.size(); ++i) {
    const ProfileProgress& before = progress_[i - 1];
    const ProfileProgress& now = progress_[i];
    EXPECT_EQ(now.again, now.pass > kProfilePasses) << i;
    if (now.pass != before.pass) {
      EXPECT_EQ(before.done, before.total) << "a pass is counted to its end";
      EXPECT_EQ(now.done, 0U) << i;
    } else {
      EXPECT_EQ(now.done, before.done + 1) << i;
      EXPECT_EQ(now.total, before.total) << "no total grows";
    }
  }
}

TEST_F(DeviceProfiler, TakesOffWhatLinksTake) {
  for (auto& row : links_) {
    for (auto& link : row) {
      link.points = {
          {1, milliseconds(9000), milliseconds(1), milliseconds(4000), milliseconds(4000)}};
    }
  }
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->front().overhead.count(), 0) << "never less than nothing";
  std::vector<std::int64_t> busy;
  for (const plan::ShardTime& shard : measured->front().shards) busy.push_back(shard.busy.count());
  EXPECT_THAT(busy, Each(0)) << "the fakes' stages take microseconds, and their links seconds";
}

TEST_F(DeviceProfiler, MeasuresOnlyWhatIsNotKnown) {
  const auto first = profile();
  ASSERT_TRUE(first);
  EXPECT_TRUE(is_enough(first->front(), request_));
  request_.cuts = {3, 5};
  EXPECT_FALSE(is_enough(first->front(), request_));
  known_ = {first->front(), first->back()};
  // Half as fast as before: what was known keeps its share of the whole.
  daemons_[0]->set_operator_time(4 * kUnit, 2 * kUnit);
  const int loads = daemons_[0]->loads();
  const auto both = profile();
  ASSERT_TRUE(both);
  EXPECT_EQ(daemons_[0]->loads(), loads + 2) << "the two sides of the new cut";
  EXPECT_THAT(in_units(both->front()), ElementsAre(14, 22, 30, 42, 30, 22, 14));
}

TEST_F(DeviceProfiler, OneShardAfterTheOtherWhereThereIsNoRoomForTwo) {
  daemons_[1]->set_memory_limit(test::kFakeOperators * test::kFakeWeightBytes);
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  for (const plan::DeviceProfile& device : *measured) {
    EXPECT_EQ(ranges_of(device), (Ranges{{0, 3}, {0, 7}, {0, 10}, {3, 10}, {7, 10}}));
    EXPECT_EQ(device.too_large, Ranges());
    for (const plan::ShardTime& shard : device.shards) EXPECT_GT(shard.busy.count(), 0);
  }
  EXPECT_THAT(in_units(measured->front()), ElementsAre(7, 15, 21, 15, 7));
  EXPECT_THAT(in_units(measured->back()), ElementsAre(9, 21, 30, 21, 9));
}

TEST_F(DeviceProfiler, WhatADeviceHasNoRoomForIsLeftOut) {
  request_.cuts = {3, 5, 7};
  daemons_[1]->set_memory_limit(6 * test::kFakeWeightBytes);
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->front().shards.size(), 7U) << "the other device has room";
  const plan::DeviceProfile& small = measured->back();
  EXPECT_EQ(ranges_of(small), (Ranges{{0, 3}, {0, 5}, {5, 10}, {7, 10}}));
  EXPECT_EQ(small.too_large, (Ranges{{0, 7}, {0, 10}, {3, 10}}));
  EXPECT_EQ(small.memory_limit_bytes, 6 * test::kFakeWeightBytes);
  EXPECT_THAT(in_units(small), ElementsAre(9, 15, 15, 9));
  for (const plan::ShardTime& shard : small.shards) EXPECT_GT(shard.busy.count(), 0);
  EXPECT_EQ(small.operators, std::vector<Nanoseconds>(10, 3 * kUnit));
  EXPECT_GT(small.overhead.count(), 0);
  EXPECT_TRUE(plan::device_profile_from_json(to_json(small))) << "it can be kept";
  EXPECT_TRUE(is_enough(small, request_)) << "nothing of it has to be tried again";
}

TEST_F(DeviceProfiler, TheEndOfTheModelIsMeasuredThoughNothingBeforeItFits) {
  request_.cuts = {7};
  daemons_[1]->set_memory_limit(4 * test::kFakeWeightBytes);
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  const plan::DeviceProfile& small = measured->back();
  EXPECT_EQ(ranges_of(small), (Ranges{{7, 10}}));
  EXPECT_THAT(in_units(small), ElementsAre(9));
  EXPECT_GT(small.shards.front().busy.count(), 0);
  EXPECT_EQ(small.too_large, (Ranges{{0, 7}, {0, 10}}));
  EXPECT_EQ(small.operators, std::vector<Nanoseconds>(10, 3 * kUnit))
      << "those of no shard are as the others";
}

TEST_F(DeviceProfiler, WithoutTheWholeModelWhatIsKnownKeepsItsShareToo) {
  request_.cuts = {3, 5, 7};
  daemons_[1]->set_memory_limit(6 * test::kFakeWeightBytes);
  const auto first = profile();
  ASSERT_TRUE(first) << first.error().message;
  request_.cuts = {3, 4, 5, 7};
  EXPECT_FALSE(is_enough(first->back(), request_));
  known_ = {first->front(), first->back()};
  daemons_[1]->set_operator_time(6 * kUnit, Nanoseconds(0));
  const auto both = profile();
  ASSERT_TRUE(both) << both.error().message;
  const plan::DeviceProfile& small = both->back();
  EXPECT_EQ(ranges_of(small), (Ranges{{0, 3}, {0, 4}, {0, 5}, {4, 10}, {5, 10}, {7, 10}}));
  EXPECT_THAT(in_units(small), ElementsAre(18, 24, 30, 36, 30, 18));
  EXPECT_EQ(small.too_large, first->back().too_large);
  EXPECT_TRUE(is_enough(small, request_));
}

TEST_F(DeviceProfiler, ADeviceWithoutRoomForAnythingIsNamed) {
  daemons_[1]->set_memory_limit(test::kFakeWeightBytes);
  const auto limited = profile();
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().code, ErrorCode::kExhausted);
  // Three weights twice, and an input and an output of 16 bytes four times.
  EXPECT_THAT(limited.error().message,
              AllOf(HasSubstr("pi-2 has no room"), HasSubstr("operators 0 to 3, needs about 224 B"),
                    HasSubstr("its memory limit is 16 B"), HasSubstr("raise --memory-limit")));
  daemons_[1]->set_memory_limit(0);
  daemons_[1]->fail_loads(Error{ErrorCode::kExhausted, "the machine is full"});
  const auto full = profile();
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("of its 1.00 GiB of memory less is free; end what"));
}

TEST_F(DeviceProfiler, StoppedBeforeItKnowsEnoughItHasNothing) {
  stop_ = true;
  const auto measured = profile();
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kClosed);
}

TEST_F(DeviceProfiler, FailsAsTheDeviceDoes) {
  daemons_[1]->die();
  const auto measured = profile();
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(measured.error().message, HasSubstr("operators 0 to 10 on pi-2"));
}

TEST_F(DeviceProfiler, AStageThatDoesNotAnswerInTimeIsNamed) {
  daemons_[0]->hang();
  timeout_ = milliseconds(50);
  const auto measured = profile();
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(measured.error().message,
              AllOf(HasSubstr("operators 0 to 10 on pi-1"), HasSubstr("no result in 0.05 s"),
                    HasSubstr("--timeout")));
}

TEST_F(DeviceProfiler, LoadsShardsWithTheSettingsOfTheirDevice) {
  request_.own_settings["pi-2"] = {"auto", "bf16", 2};
  const auto measured = profile();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->front().precision, "fp32");
  EXPECT_EQ(measured->back().precision, "bf16");
  EXPECT_EQ(measured->back().threads, 2);
  EXPECT_EQ(profile_key(measured->back()), profile_key(*cluster_, *daemons_[1], request_));
  const control::ShardSettings own{{"auto", "bf16", 2}};
  EXPECT_THAT(daemons_[0]->load_settings(), testing::Each(request_.settings));
  EXPECT_THAT(daemons_[1]->load_settings(), testing::Each(own));
}

TEST_F(DeviceProfiler, KeysTellProfilesApart) {
  const std::string key = profile_key(*cluster_, *daemons_[0], request_);
  const auto measured = profile();
  ASSERT_TRUE(measured);
  EXPECT_EQ(profile_key(measured->front()), key);
  request_.settings.batch = 8;
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key);
  request_.settings.batch = 1;
  request_.settings.precision = "bf16";
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key);
  request_.settings.precision = "fp32";
  std::set<std::string> keys{key};
  for (const char* const schedule : {"mixed", R"({"units":[]})", R"({"units":[],"order":[]})"}) {
    request_.settings.schedule = schedule;
    EXPECT_TRUE(keys.insert(profile_key(*cluster_, *daemons_[0], request_)).second) << schedule;
  }
  request_.settings.schedule = plan::kSequential;
  EXPECT_EQ(profile_key(*cluster_, *daemons_[0], request_), key);
  daemons_[0]->set_memory_limit(100);
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key)
      << "what is too large may be so no more";
  daemons_[0]->set_memory_limit(0);
  for (test::FakeDaemon* const daemon : daemons_) daemon->set_place({"this boot", 1, 0}, false);
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key)
      << "the other one is at work beside it";
  daemons_[1]->set_place({"another boot", 1, 0}, false);
  EXPECT_EQ(profile_key(*cluster_, *daemons_[0], request_), key);
  daemons_[0]->set_device("cuda:0");
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key);
  daemons_[0]->set_device("cpu");
  daemons_[0]->set_cores(4);
  EXPECT_NE(profile_key(*cluster_, *daemons_[0], request_), key);
}

}  // namespace
}  // namespace pareto::profile
