#include "core/control/hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/plan/protocol.h"
#include "core/transport/silence.h"

namespace pareto::control {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(Hello, ComesBackAsItWas) {
  for (const Role role : {Role::kUpstream, Role::kSink, Role::kProbe}) {
    const auto hello = parse_hello(hello_message({0xfedc'ba98'7654'3210, 0xffff'ffff, role}));
    ASSERT_TRUE(hello) << hello.error().message;
    EXPECT_EQ(hello->pipeline, 0xfedc'ba98'7654'3210);
    EXPECT_EQ(hello->stage, 0xffff'ffff);
    EXPECT_EQ(hello->role, role);
  }
}

TEST(Hello, SaysHowOftenItsSpeakerShowsLifeAndWhetherRequestsAreInOrder) {
  const auto plain = parse_hello(hello_message({7, 1, Role::kSink})).value();
  EXPECT_EQ(plain.beat, Nanoseconds(0)) << "as older programs say it";
  EXPECT_FALSE(plain.in_order);
  EXPECT_EQ(plain.answering_beat(), Nanoseconds(0));
  const auto live = parse_hello(hello_message({.pipeline = 7,
                                               .role = Role::kUpstream,
                                               .beat = std::chrono::milliseconds(300),
                                               .in_order = true}));
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_EQ(live->beat, std::chrono::milliseconds(300));
  EXPECT_TRUE(live->in_order);
  EXPECT_EQ(live->answering_beat(), transport::kBeat);
}

TEST(Hello, BeatsHaveBounds) {
  for (const std::int64_t beat : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{9},
                                  std::int64_t{5001}, INT64_MAX, INT64_MIN}) {
    wire::Message message = hello_message({7, 1, Role::kSink});
    message.body.get_if<Dict>()->items.emplace_back(std::string("beat_ms"), beat);
    EXPECT_EQ(parse_hello(message).error().code, ErrorCode::kCorrupt) << beat;
    wire::Message ready = ready_message(7);
    ready.body = message.body;
    EXPECT_EQ(beat_of_ready(ready).error().code, ErrorCode::kCorrupt) << beat;
  }
  EXPECT_EQ(beat_of_ready(ready_message(7)).value(), Nanoseconds(0));
  EXPECT_EQ(beat_of_ready(ready_message(7, transport::kBeat)).value(), transport::kBeat);
}

/// Parses a hello of which one field is another.
Expected<Hello> parse_with(const std::string& key, const Value& value) {
  wire::Message message = hello_message({7, 1, Role::kSink});
  Dict dict = *message.body.get_if<Dict>();
  for (auto& [name, held] : dict.items) {
    if (*name.get_if<std::string>() == key) held = value;
  }
  message.body = std::move(dict);
  return parse_hello(message);
}

TEST(Hello, OfAnotherProtocolNamesBoth) {
  const auto refused = parse_with("protocol", std::int64_t{99});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("protocol 99"));
  EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("speaks {}", plan::kProtocolVersion)));
}

TEST(Hello, ThatIsNoneIsCorrupt) {
  EXPECT_EQ(parse_hello(ready_message(7)).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_with("stage", std::int64_t{-1}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_with("stage", std::int64_t{1} << 32).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_with("stage", std::string("1")).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_with("pipeline", 0.5).error().code, ErrorCode::kCorrupt);
  const auto role = parse_with("role", std::string("king\x1b[2J"));
  EXPECT_EQ(role.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(role.error().message, EndsWith("\"king [2J\""));
  wire::Message empty;
  empty.kind = wire::MessageKind::kHello;
  EXPECT_EQ(parse_hello(empty).error().code, ErrorCode::kCorrupt);
}

TEST(ErrorMessage, KeepsEveryCode) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kCorrupt,
        ErrorCode::kUnavailable, ErrorCode::kClosed, ErrorCode::kTimeout, ErrorCode::kExhausted,
        ErrorCode::kPermission, ErrorCode::kInternal}) {
    const Error error = error_of(error_message(7, 3, {code, "stage 1 on pi-2: why"}));
    EXPECT_EQ(error.code, code);
    EXPECT_EQ(error.message, "stage 1 on pi-2: why");
  }
}

TEST(ErrorMessage, IsBoundedAndFitForATerminal) {
  const Error error =
      error_of(error_message(7, 3, {ErrorCode::kInternal, "\x1b[2J" + std::string(100'000, 'x')}));
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_LE(error.message.size(), kLongestError);
  EXPECT_EQ(error_of(ready_message(7)).code, ErrorCode::kCorrupt);
  wire::Message odd = error_message(7, 3, {ErrorCode::kInternal, "why"});
  odd.body = Tuple{{std::string("internal")}};
  EXPECT_EQ(error_of(odd).code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace pareto::control
