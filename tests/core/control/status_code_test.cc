#include "core/control/status_code.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

namespace pareto::control {
namespace {

using grpc::StatusCode;

TEST(StatusCodes, EveryCodeHasItsOwnAndComesBack) {
  for (const auto& [code, number] : kStatusCodes) {
    const grpc::Status status = to_status(Expected<>(fail(code, "why")));
    EXPECT_EQ(static_cast<int>(status.error_code()), number);
    EXPECT_EQ(error_code(status.error_code()), code);
    EXPECT_EQ(status.error_message(), "why");
  }
  EXPECT_TRUE(to_status(Expected<>()).ok());
  EXPECT_EQ(error_code(StatusCode::UNKNOWN), ErrorCode::kInternal);
  EXPECT_EQ(error_code(StatusCode::UNIMPLEMENTED), ErrorCode::kInvalidArgument);
}

TEST(StatusCodes, AVeryLongMessageIsCut) {
  const std::string text(100'000, 'x');
  EXPECT_LT(to_status(Expected<>(fail(ErrorCode::kInternal, "{}", text))).error_message().size(),
            3000U);
}

}  // namespace
}  // namespace pareto::control
