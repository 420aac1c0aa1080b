#include "core/control/digest_bytes.h"

#include <gtest/gtest.h>

namespace pareto::control {
namespace {

TEST(DigestBytes, ComeBackAndAreThirtyTwo) {
  const Digest digest = sha256("weights");
  const std::string bytes = digest_bytes(digest);
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_EQ(digest_from(bytes).value(), digest);
  for (const std::size_t size : {0, 31, 33}) {
    EXPECT_EQ(digest_from(std::string(size, 'x')).error().code, ErrorCode::kCorrupt) << size;
  }
}

}  // namespace
}  // namespace pareto::control
