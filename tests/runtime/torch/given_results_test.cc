#include "runtime/torch/given_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

Expected<> checked(const std::string& body) {
  return check_given_results(module_of("def run(self, x):\n" + body + "    return (x,)\n"));
}

TEST(GivenResults, OperatorsThatWriteIntoAGivenTensorAreRefusedByName) {
  for (const char* const body :
       {"    torch.add(x, x, out=x)\n", "    for i in range(3):\n        torch.add(x, i, out=x)\n",
        "    if bool(x.sum() > 1):\n        torch.add(x, x, alpha=2, out=x)\n"}) {
    const auto refused = checked(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr("no shard may use aten::add with a tensor for its result"));
  }
  EXPECT_FALSE(checked("    y, i = torch.max(x, 0, max=x, max_values=x.to(4))\n"));
}

TEST(GivenResults, OperatorsThatWorkInPlacePass) {
  for (const char* const body :
       {"    x.add_(1)\n", "    x[0] = 3\n", "    l = [x]\n    l.append(x)\n    l[0] = x\n",
        "    x.copy_(x + 1)\n    x.clamp_(0, 1)\n", "    x.index_put_([x.to(4)], x)\n"}) {
    const auto passed = checked(body);
    EXPECT_TRUE(passed) << body << passed.error().message;
  }
}

}  // namespace
}  // namespace pareto::runtime
