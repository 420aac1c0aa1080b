#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/engines/options.h"

namespace pareto::runtime {
namespace {

TEST(BuiltinEngines, BeginWithThePlainOne) {
  ASSERT_FALSE(engine_names().empty());
  EXPECT_EQ(engine_names().front(), "plain");
}

TEST(BuiltinEngines, HaveNamesOfTheirOwn) {
  const std::set<std::string> names(engine_names().begin(), engine_names().end());
  EXPECT_EQ(names.size(), engine_names().size());
  EXPECT_EQ(names.count("auto"), 0U) << "which is the choice among them";
}

TEST(Precision, IsReadAsItIsWritten) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    EXPECT_EQ(parse_precision(to_string(precision)).value(), precision);
  }
  for (const char* const none : {"", "fp16", "FP32", "fp32 "}) {
    const auto parsed = parse_precision(none);
    ASSERT_FALSE(parsed) << none;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace pareto::runtime
