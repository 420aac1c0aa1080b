// Who wants to stop while a link is probed leaves within two seconds.
#include "client/commands/leave_soon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>

namespace pareto::client::commands {
namespace {

using testing::Eq;
using testing::Optional;

TEST(ProbeInHand, SaysWhichLinkIsNotWaitedForWhileItIsProbed) {
  ProbeInHand probe;
  EXPECT_EQ(probe.why_not(), std::nullopt);
  probe.show("profiling pi-1, batch 1, fp32", true);
  EXPECT_THAT(probe.why_not(), Optional(testing::HasSubstr("profiling pi-1, batch 1, fp32")));
  probe.show("profiling pi-1, batch 1, fp32, pass 2", true);
  EXPECT_EQ(probe.why_not(), std::nullopt) << "the profile is complete after the cut in hand";
  probe.show("probing pi-1 to pi-2, tcp", true);
  EXPECT_THAT(probe.why_not(),
              Optional(Eq("stopped while probing pi-1 to pi-2, tcp, which is not waited for: "
                          "complete profiles of devices are kept, and not measured again")));
  probe.show("probing pi-1 to pi-2, tcp", false);
  EXPECT_EQ(probe.why_not(), std::nullopt);
}

/// A request to stop that was made already.
class Stopped final : public StopSignal {
 public:
  Stopped() {
    const std::uint64_t once = 1;
    static_cast<void>(!::write(descriptor_.get(), &once, sizeof once));
  }
  const std::atomic<bool>& watch() override { return stopped_; }
  int descriptor() const override { return descriptor_.get(); }

 private:
  const std::atomic<bool> stopped_{true};
  const FileDescriptor descriptor_{::eventfd(0, EFD_CLOEXEC)};
};

TEST(LeaveSoon, EndsTheProcessWhileALinkIsProbed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto probe_for_ever = [] {
    Stopped stop;
    Context context{.out = std::cout,
                    .err = std::cerr,
                    .command_line = {},
                    .paretod = {},
                    .default_store = {},
                    .stop = stop};
    ProbeInHand probe;
    probe.show("probing pi-1 to pi-2, tcp", true);
    const LeaveSoon leaving(context, kStopping, kExitPartial, [&] { return probe.why_not(); });
    for (;;) ::pause();
  };
  EXPECT_EXIT(probe_for_ever(), testing::ExitedWithCode(kExitPartial),
              "stopped while probing pi-1 to pi-2, tcp, which is not waited for");
}

}  // namespace
}  // namespace pareto::client::commands
