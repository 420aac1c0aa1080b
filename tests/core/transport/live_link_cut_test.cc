// Links of which one direction is cut: no kernel notices, because both go on to acknowledge.
#include <gmock/gmock.h>

#include "core/transport/live_link.h"
#include "tests/core/transport/byte_forwarder.h"
#include "tests/core/transport/conformance_suite.h"

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;

struct Cut {
  Way way;
  bool forth = false;  ///< true: bytes of the connecting side are dropped; else those for it
};

class CutLinks : public testing::TestWithParam<Cut> {
 protected:
  /// Shows life often, and is patient for long enough that a busy machine keeps the link.
  static constexpr LifeOptions kQuick{
      .peer_beat = milliseconds(20), .beat = milliseconds(20), .least_patience = milliseconds(900)};

  CutLinks() : transport_(must(make_transport(GetParam().way.transport))) {
    LinkOptions accepting;
    LinkOptions connecting;
    if (GetParam().way.secured) {
      accepting.credentials = test_credentials().device;
      connecting.credentials = test_credentials().coordinator;
    }
    listener_ = must(transport_->listen("127.0.0.1:0", accepting));
    forwarder_.emplace(listener_->address(), Mischief{});
    Async accepted([&] {
      auto link = must(listener_->accept(soon()));
      EXPECT_TRUE(link->authenticate(soon()));
      return link;
    });
    auto there = must(transport_->connect(forwarder_->address(), soon(), connecting));
    auto here = accepted.get();
    connected_ = must(LiveLink::make(there, kQuick));
    accepted_ = must(LiveLink::make(here, kQuick));
  }

  const std::unique_ptr<Transport> transport_;
  std::unique_ptr<Listener> listener_;
  std::optional<ByteForwarder> forwarder_;
  std::unique_ptr<LiveLink> connected_;
  std::unique_ptr<LiveLink> accepted_;
};

TEST_P(CutLinks, AreFoundAtBothEnds) {
  ASSERT_TRUE(connected_->send(message_of(1, 5000), soon()));
  ASSERT_EQ(must(accepted_->receive(soon())).message.request, 1U);
  LiveLink& deaf = GetParam().forth ? *accepted_ : *connected_;
  LiveLink& mute = GetParam().forth ? *connected_ : *accepted_;
  forwarder_->cut(GetParam().forth);
  Async other([&] { return mute.receive(soon()); });
  const auto received = deaf.receive(soon());
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(received.error().message, HasSubstr("no sign of life for 0.9 s"));
  EXPECT_TRUE(deaf.is_silent());
  // It hears that the link is closed. A grpc link may hear it by the end of its call only.
  const auto seen = other.get();
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().code, AnyOf(ErrorCode::kClosed, ErrorCode::kUnavailable));
  EXPECT_FALSE(mute.is_silent()) << seen.error().message;
}

INSTANTIATE_TEST_SUITE_P(Networks, CutLinks,
                         testing::Values(Cut{{"tcp"}, true}, Cut{{"tcp"}, false},
                                         Cut{{"tcp", true}, true}, Cut{{"tcp", true}, false},
                                         Cut{{"grpc"}, true}, Cut{{"grpc"}, false},
                                         Cut{{"grpc", true}, true}, Cut{{"grpc", true}, false}),
                         [](const auto& one) {
                           return one.param.way.transport +
                                  (one.param.way.secured ? "Secured" : "") +
                                  (one.param.forth ? "Forth" : "Back");
                         });

}  // namespace
}  // namespace pareto::transport
