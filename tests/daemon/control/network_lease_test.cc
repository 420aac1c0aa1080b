#include "daemon/control/network_lease.h"

#include <gmock/gmock.h>

#include <atomic>

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class NetworkLeaseTest : public testing::Test {
 protected:
  /// Counts what is changed at the moment, and tells when it no longer is.
  class Noted final : public InterfaceChange {
   public:
    explicit Noted(NetworkLeaseTest& test) : test_(test) { test_.changed_ = true; }
    ~Noted() override {
      test_.changed_ = false;
      test_.changed_.notify_all();
    }
    Expected<> check() const override {
      if (!test_.broken_) return {};
      return fail(ErrorCode::kUnavailable, "tc says no");
    }
    Expected<> end() override { return check(); }

   private:
    NetworkLeaseTest& test_;
  };

  NetworkLease::Change change() {
    return [this](const LeaseRequest& request) -> Expected<std::unique_ptr<InterfaceChange>> {
      if (request.interface == "none") return fail(ErrorCode::kNotFound, "no such interface");
      return std::make_unique<Noted>(*this);
    };
  }
  static LeaseRequest request(Nanoseconds duration = seconds(30)) {
    return {"eth1", {}, "slow", duration, "eth0", false};
  }

  std::atomic<bool> changed_{false};
  std::atomic<bool> broken_{false};
};

TEST_F(NetworkLeaseTest, EndsWhenItIsEnded) {
  NetworkLease leases(true, change());
  const Lease lease = leases.take(request()).value();
  EXPECT_TRUE(changed_);
  EXPECT_EQ(leases.take(request()).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(leases.renew(lease.number)->duration, seconds(30));
  EXPECT_TRUE(leases.end(lease.number + 1));
  EXPECT_TRUE(changed_) << "that of somebody else";
  EXPECT_TRUE(leases.end(lease.number));
  EXPECT_FALSE(changed_);
  EXPECT_EQ(leases.renew(lease.number).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(leases.take(request()));
}

TEST_F(NetworkLeaseTest, TellsWhatItCouldNotTakeBack) {
  NetworkLease leases(true, change());
  const Lease lease = leases.take(request()).value();
  broken_ = true;
  const auto ended = leases.end(lease.number);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("tc says no"));
  EXPECT_FALSE(changed_) << "it is given up";
  broken_ = false;
  EXPECT_TRUE(leases.take(request())) << "the next may try";
}

TEST_F(NetworkLeaseTest, RunsOutByItself) {
  NetworkLease leases(true, change());
  const Lease lease = leases.take(request(milliseconds(100))).value();
  changed_.wait(true);
  EXPECT_EQ(leases.renew(lease.number).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(leases.take(request())) << "the next may have it";
}

TEST_F(NetworkLeaseTest, EndsWithTheDaemon) {
  {
    NetworkLease leases(true, change());
    ASSERT_TRUE(leases.take(request()));
  }
  EXPECT_FALSE(changed_);
}

TEST_F(NetworkLeaseTest, NoneIsGrantedOnceItIsClosed) {
  NetworkLease leases(true, change());
  ASSERT_TRUE(leases.take(request()));
  leases.close();
  EXPECT_FALSE(changed_);
  EXPECT_EQ(leases.take(request()).error().code, ErrorCode::kClosed);
  EXPECT_FALSE(changed_);
}

TEST_F(NetworkLeaseTest, IsRefusedUnlessItIsAllowed) {
  NetworkLease leases(false, change());
  const auto lease = leases.take(request());
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, ErrorCode::kPermission);
  EXPECT_THAT(lease.error().message, HasSubstr("allow_netem: true"));
  EXPECT_FALSE(changed_);
}

TEST_F(NetworkLeaseTest, TheControlInterfaceIsChangedOnPurposeOnlyAndNotForLong) {
  NetworkLease leases(true, change());
  LeaseRequest own = request();
  own.interface = "eth0";
  EXPECT_EQ(leases.take(own).error().code, ErrorCode::kPermission);
  EXPECT_FALSE(changed_);
  own.control_interface_too = true;
  EXPECT_EQ(leases.take(own)->duration, NetworkLease::kLongestOnControl);
}

TEST_F(NetworkLeaseTest, IsNoLongerThanAMinute) {
  NetworkLease leases(true, change());
  EXPECT_EQ(leases.take(request(std::chrono::hours(1)))->duration, NetworkLease::kLongest);
}

TEST_F(NetworkLeaseTest, TellsWhatIsWrongWithTheInterface) {
  NetworkLease leases(true, change());
  LeaseRequest absent = request();
  absent.interface = "none";
  EXPECT_EQ(leases.take(absent).error().code, ErrorCode::kNotFound);
  const Lease lease = leases.take(request()).value();
  broken_ = true;
  EXPECT_THAT(leases.renew(lease.number).error().message, HasSubstr("tc says no"));
}

TEST(InterfaceTowards, IsFoundByTheRoute) {
  EXPECT_EQ(interface_towards("127.0.0.1").value(), "lo");
  EXPECT_EQ(interface_towards("pi-1").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::daemon
