#include "coordinator/cluster/call_result.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

namespace pareto::cluster {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

DeviceConfig pi() {
  DeviceConfig config;
  config.name = "pi";
  config.address = "10.0.0.2:7070";
  return config;
}

Error of(StatusCode code, const std::string& message) {
  return call_result(grpc::Status(code, message), pi(), "loading shard").error();
}

TEST(CallResult, OfACallThatSucceededIsNoError) {
  EXPECT_TRUE(call_result(grpc::Status(), pi(), "loading shard"));
  EXPECT_TRUE(first_call_result(grpc::Status(), pi(), std::chrono::seconds(1)));
}

TEST(CallResult, PassesOnWhatTheDaemonSaysWithItsCode) {
  const Error error = of(StatusCode::NOT_FOUND, "no shard 7");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "pi (10.0.0.2:7070): loading shard: no shard 7");
}

TEST(CallResult, SaysInOurWordsWhatGrpcMakesUp) {
  const Error refused =
      of(StatusCode::UNAVAILABLE,
         "failed to connect to all addresses; last error: UNKNOWN: "
         "ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused");
  EXPECT_EQ(refused.code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.message, HasSubstr("loading shard: no daemon answers (Connection refused)"));
  EXPECT_THAT(of(StatusCode::UNAVAILABLE, "sendmsg:Broken pipe").message,
              HasSubstr("the connection to its daemon broke (Broken pipe)"));
  const Error unknown = of(StatusCode::UNIMPLEMENTED, "");
  EXPECT_EQ(unknown.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unknown.message, HasSubstr("install the same version on both"));
}

TEST(CallResult, LetsNoControlCharactersAndNoFloodThrough) {
  const Error error = of(StatusCode::INTERNAL, "\x1b[31mred\n" + std::string(1 << 20, 'x'));
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_LT(error.message.size(), 2100U);
}

TEST(FirstCallResult, SaysWhatToLookAt) {
  const auto first = [](StatusCode code, const std::string& message) {
    return first_call_result(grpc::Status(code, message), pi(), std::chrono::milliseconds(250))
        .error();
  };
  EXPECT_EQ(first(StatusCode::UNAVAILABLE, "recvmsg:Connection reset by peer").message,
            "pi (10.0.0.2:7070): no daemon answers (Connection reset by peer): does paretod run "
            "there, on that port?");
  const Error late = first(StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded");
  EXPECT_EQ(late.code, ErrorCode::kTimeout);
  EXPECT_THAT(late.message, HasSubstr("no answer within 250 ms: is the device on"));
  EXPECT_THAT(first(StatusCode::PERMISSION_DENIED, "no").message, HasSubstr(": connecting: no"));
}

}  // namespace
}  // namespace pareto::cluster
