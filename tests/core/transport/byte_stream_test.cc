// A tcp link on streams that give little at a time, break or end wherever they like.
#include "core/transport/tcp/byte_stream.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "core/transport/tcp/link.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport::tcp {
namespace {

/// The bytes of one direction, and the ways in which it may be odd.
struct Script {
  std::deque<std::byte> bytes;       ///< written and not read yet
  std::size_t at_a_time = SIZE_MAX;  ///< the most bytes that a call moves
  std::size_t until = SIZE_MAX;      ///< bytes that move before `then`
  std::optional<Error> then;  ///< error of calls from there on; no value means that the stream ends
  std::size_t moved = 0;
  int calls = 0;
  std::vector<const void*> memory;  ///< first byte of each part that a call was given

  /// Returns how many bytes of that many the next call moves; 0: the end.
  Expected<std::size_t> next(std::size_t wanted) {
    ++calls;
    const std::size_t count = std::min({wanted, at_a_time, until - moved});
    if (count == 0 && then) return tl::unexpected(*then);
    moved += count;
    return count;
  }
};

std::size_t size_of(std::span<const iovec> parts) {
  std::size_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  return bytes;
}

class ScriptedStream final : public ByteStream {
 public:
  ScriptedStream(Script& out, Script& in) : out_(out), in_(in) {}

  Expected<std::size_t> write_some(std::span<const iovec> parts, Deadline) override {
    if (is_shut_down) return fail(ErrorCode::kClosed, "shut down");
    PARETO_ASSIGN(const std::size_t count, out_.next(size_of(parts)));
    std::size_t left = count;
    for (const iovec& part : parts) {
      out_.memory.push_back(part.iov_base);
      const auto* bytes = static_cast<const std::byte*>(part.iov_base);
      const std::size_t some = std::min(left, part.iov_len);
      out_.bytes.insert(out_.bytes.end(), bytes, bytes + some);
      left -= some;
    }
    return count;
  }
  Expected<std::size_t> read_some(std::span<const iovec> parts, Deadline) override {
    PARETO_ASSIGN(const std::size_t count, in_.next(std::min(size_of(parts), in_.bytes.size())));
    std::size_t left = count;
    for (const iovec& part : parts) {
      in_.memory.push_back(part.iov_base);
      const std::size_t some = std::min(left, part.iov_len);
      const auto end = in_.bytes.begin() + static_cast<std::ptrdiff_t>(some);
      std::copy(in_.bytes.begin(), end, static_cast<std::byte*>(part.iov_base));
      in_.bytes.erase(in_.bytes.begin(), end);
      left -= some;
    }
    return count;
  }
  void shut_down() override { is_shut_down = true; }
  std::string address() const override { return "10.0.0.1:7071"; }
  PeerIdentity identity() const override { return {"pi-2", true}; }

  bool is_shut_down = false;

 private:
  Script& out_;
  Script& in_;
};

/// A link that receives what it sends: there is one direction, a circle.
class Circle : public testing::Test {
 protected:
  Circle()
      : stream_(new ScriptedStream(way_, way_)),
        link_(std::make_unique<TcpLink>(std::unique_ptr<ByteStream>(stream_), LinkOptions{})) {}

  /// Puts the frame of a message into the stream, and forgets how. Returns its bytes.
  std::size_t put(const wire::Message& message) {
    EXPECT_TRUE(link_->send(message));
    const std::size_t bytes = way_.bytes.size();
    way_.moved = 0;
    way_.calls = 0;
    way_.memory.clear();
    return bytes;
  }

  Script way_;
  ScriptedStream* const stream_;
  const std::unique_ptr<Link> link_;
};

/// Returns whether a call was given a part of the message's tensor itself, and not of a copy.
bool was_given(const Script& way, const wire::Message& message) {
  const Tensor& tensor = *message.body.get_if<Tuple>()->items[0].get_if<Tensor>();
  const std::byte* const first = tensor.bytes().data();
  return std::ranges::any_of(way.memory, [&](const void* part) {
    return std::less_equal<>()(first, part) && std::less<>()(part, first + tensor.size_bytes());
  });
}

TEST_F(Circle, FramesComeWholeHoweverLittleMovesAtATime) {
  // The second is so large that its checksum is sent apart.
  const std::vector<wire::Message> messages{message_of(1, 300), message_of(2, 70'000),
                                            message_of(3, 0)};
  for (const std::size_t at_a_time : {1UL, 2UL, 7UL, 63UL, 1000UL, 17'000UL}) {
    way_.at_a_time = at_a_time;
    for (const wire::Message& message : messages) ASSERT_TRUE(link_->send(message));
    for (const wire::Message& message : messages) {
      const auto received = link_->receive();
      ASSERT_TRUE(received) << at_a_time << ": " << received.error().message;
      EXPECT_EQ(received->message.request, message.request);
      EXPECT_TRUE(bit_equal(received->message.body, message.body)) << at_a_time;
    }
  }
  EXPECT_TRUE(way_.bytes.empty());
}

TEST_F(Circle, ALargeMessageIsOneCallAndItsChecksumAnother) {
  const wire::Message message = message_of(1, 4 << 20);
  ASSERT_TRUE(link_->send(message));
  EXPECT_EQ(way_.calls, 2);
  EXPECT_TRUE(was_given(way_, message));
}

TEST_F(Circle, ALargeMessageIsReadStraightIntoItsTensor) {
  put(message_of(1, 4 << 20));
  const auto received = link_->receive();
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(was_given(way_, received->message));
  EXPECT_LE(way_.calls, 3) << "header, metadata, the rest";
}

TEST_F(Circle, ASmallMessageIsOneCallEachWay) {
  ASSERT_TRUE(link_->send(message_of(1, 300)));
  EXPECT_EQ(way_.calls, 1);
  way_.calls = 0;
  ASSERT_TRUE(link_->receive());
  EXPECT_EQ(way_.calls, 1);
}

/// Sends one frame, of which `until` bytes can be read.
class Broken : public Circle, public testing::WithParamInterface<double> {
 protected:
  Broken() {
    const std::size_t bytes = put(message_of(1, 5000));
    // 0: nothing came; 1: all but the last byte.
    way_.until = static_cast<std::size_t>(GetParam() * static_cast<double>(bytes - 1));
    inside_ = way_.until > 0;
  }
  bool inside_ = false;  ///< true if the frame has begun
};

TEST_P(Broken, TheEndInsideAFrameIsABrokenConnection) {
  const auto received = link_->receive();
  ASSERT_EQ(code_of(received), inside_ ? ErrorCode::kUnavailable : ErrorCode::kClosed);
  EXPECT_NE(received.error().message.find("tcp 10.0.0.1:7071"), std::string::npos)
      << received.error().message;
  EXPECT_EQ(received.error().message.find("inside a frame") != std::string::npos, inside_);
}

TEST_P(Broken, AFailureIsPassedOnWithThePeersAddress) {
  way_.then = Error{ErrorCode::kUnavailable, "the certificate was revoked"};
  const auto received = link_->receive();
  ASSERT_EQ(code_of(received), ErrorCode::kUnavailable);
  EXPECT_EQ(received.error().message, "tcp 10.0.0.1:7071: receiving: the certificate was revoked");
}

TEST_P(Broken, ADeadlineInsideAFrameLosesNothing) {
  way_.then = Error{ErrorCode::kTimeout, "the deadline passed"};
  ASSERT_EQ(code_of(link_->receive()), ErrorCode::kTimeout);
  EXPECT_FALSE(stream_->is_shut_down);
  way_.until = SIZE_MAX;
  const auto received = link_->receive();
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(bit_equal(received->message.body, message_of(1, 5000).body));
}

INSTANTIATE_TEST_SUITE_P(Places, Broken, testing::Values(0.0, 0.001, 0.013, 0.03, 0.5, 1.0));

TEST_F(Circle, BytesThatAreNoFrameShutTheStreamDown) {
  way_.bytes.assign(200, std::byte{'x'});
  EXPECT_EQ(code_of(link_->receive()), ErrorCode::kCorrupt);
  EXPECT_TRUE(stream_->is_shut_down);
  EXPECT_EQ(code_of(link_->receive()), ErrorCode::kClosed);
}

TEST_F(Circle, ADeadlineBeforeTheFirstByteLeavesTheLinkUsable) {
  way_.until = 0;
  way_.then = Error{ErrorCode::kTimeout, "the deadline passed"};
  EXPECT_EQ(code_of(link_->send(message_of(1, 70'000))), ErrorCode::kTimeout);
  EXPECT_FALSE(stream_->is_shut_down);
  way_.until = SIZE_MAX;
  put(message_of(2, 70'000));
  EXPECT_EQ(must(link_->receive()).message.request, 2U);
}

TEST_F(Circle, ADeadlineInsideAFrameThatIsSentClosesTheLink) {
  const std::size_t whole = put(message_of(1, 70'000));
  // The last: all but the checksum, which is sent apart.
  for (const std::size_t until : {std::size_t{1}, whole / 2, whole - 8}) {
    Script way;
    way.at_a_time = 64 << 10;
    way.until = until;
    way.then = Error{ErrorCode::kTimeout, "the deadline passed"};
    auto* const stream = new ScriptedStream(way, way);
    const std::unique_ptr<Link> link =
        std::make_unique<TcpLink>(std::unique_ptr<ByteStream>(stream), LinkOptions{});
    EXPECT_EQ(code_of(link->send(message_of(1, 70'000))), ErrorCode::kTimeout);
    EXPECT_TRUE(stream->is_shut_down) << "half a frame is on its way, after " << until << " bytes";
    EXPECT_EQ(code_of(link->send(message_of(2, 10))), ErrorCode::kClosed);
  }
}

TEST_F(Circle, AClosedLinkDropsWhatItHasReadAhead) {
  put(message_of(1, 100));
  put(message_of(2, 100));
  ASSERT_TRUE(link_->receive());
  link_->close();
  EXPECT_TRUE(stream_->is_shut_down);
  EXPECT_EQ(code_of(link_->receive()), ErrorCode::kClosed);
}

TEST_F(Circle, WhoIsThereIsWhatTheStreamSays) {
  EXPECT_EQ(link_->peer(), "tcp 10.0.0.1:7071");
  EXPECT_EQ(to_string(link_->identity()), "pi-2");
}

}  // namespace
}  // namespace pareto::transport::tcp
