#include "core/control/greeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace pareto::control {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Deadline soon() { return deadline_after(std::chrono::seconds(10)); }

/// Connects to a peer that answers hello so.
Expected<std::unique_ptr<transport::Link>> connect_to(const wire::Message& answer) {
  const auto transport = transport::make_transport("tcp").value();
  const auto listener = transport->listen("127.0.0.1:0").value();
  const std::jthread peer([&] {
    const auto link = listener->accept(soon());
    if (!link) return;
    const auto hello = (*link)->receive(soon());
    if (!hello || !parse_hello(hello->message)) return;
    static_cast<void>((*link)->send(answer, soon()));
    // The other side closes.
    static_cast<void>((*link)->receive(soon()));
  });
  auto link = connect_to_stage(*transport, listener->address(), {7, 1, Role::kUpstream}, soon());
  if (link) (*link)->close();
  return link;
}

TEST(ConnectToStage, IsReadyOrHasThePeersOwnCodeAndSentence) {
  EXPECT_TRUE(connect_to(ready_message(7)));
  for (const ErrorCode code :
       {ErrorCode::kNotFound, ErrorCode::kClosed, ErrorCode::kTimeout, ErrorCode::kExhausted}) {
    const auto refused = connect_to(error_message(7, 0, {code, "stage 1 on pi-2 has ended"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, code) << "a stage that ends is no wrong flag";
    EXPECT_THAT(refused.error().message, EndsWith(": stage 1 on pi-2 has ended"));
  }
  EXPECT_EQ(connect_to(hello_message({7, 1, Role::kSink})).error().code, ErrorCode::kCorrupt);
}

TEST(ConnectToStage, WaitsForASilentPeerNoLongerThanItsPatience) {
  const auto transport = transport::make_transport("tcp").value();
  // Its kernel takes connections, as that of a stopped process does.
  const auto listener = transport->listen("127.0.0.1:0").value();
  const auto link =
      connect_to_stage(*transport, listener->address(), {7, 1, Role::kUpstream}, std::nullopt);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(link.error().message, HasSubstr(listener->address()));
  EXPECT_THAT(link.error().message, HasSubstr("took the connection and does not answer"));
}

}  // namespace
}  // namespace pareto::control
