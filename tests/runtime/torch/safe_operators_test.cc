// Operators that would end the process on some values: each throws, and computes all others.
#include "runtime/torch/safe_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

c10::IValue run_safely(const std::string& arguments, const std::string& expression,
                       std::vector<c10::IValue> values) {
  install_safe_operators();
  return module_of("def run(self, " + arguments + "):\n    return " + expression + "\n")
      .get_method("run")(std::move(values));
}

std::string thrown_by(const std::string& arguments, const std::string& expression,
                      const std::vector<c10::IValue>& values) {
  try {
    run_safely(arguments, expression, values);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TEST(SafeOperators, NumbersAreNotDividedByZeroNorTheLeastByMinusOne) {
  for (const char* const expression : {"a // b", "a % b", "divmod(a, b)"}) {
    EXPECT_THAT(thrown_by("a: int, b: int", expression, {7, 0}), HasSubstr("divided by 0"))
        << expression;
    EXPECT_THAT(thrown_by("a: int, b: int", expression, {kLeast, -1}),
                HasSubstr("the least whole number is divided by -1"))
        << expression;
    EXPECT_EQ(thrown_by("a: int, b: int", expression, {kLeast, 1}), "nothing");
    EXPECT_EQ(thrown_by("a: int, b: int", expression, {kLeast + 1, -1}), "nothing");
  }
}

TEST(SafeOperators, DivisionsThatMayBeAreAsBefore) {
  for (const std::int64_t a : {-7, -1, 0, 5, 9}) {
    for (const std::int64_t b : {-3, -1, 1, 4}) {
      const auto floor = static_cast<std::int64_t>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(run_safely("a: int, b: int", "a // b", {a, b}).toInt(), floor) << a << " " << b;
      EXPECT_EQ(run_safely("a: int, b: int", "a % b", {a, b}).toInt(), a - floor * b);
    }
  }
  EXPECT_EQ(run_safely("a: float, b: float", "a // b", {7.5, 2.0}).toDouble(), 3);
}

TEST(SafeOperators, TensorsOfWholeNumbersAreCheckedElementByElement) {
  const auto whole = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); };
  for (const char* const expression :
       {"torch.floor_divide(a, b)", "torch.remainder(a, b)", "torch.fmod(a, b)",
        "torch.div(a, b, rounding_mode=\"floor\")", "torch.div(a, b, rounding_mode=\"trunc\")"}) {
    EXPECT_THAT(thrown_by("a, b", expression, {whole({1, kLeast}), whole({3, -1})}),
                HasSubstr("the least whole number is divided by -1"))
        << expression;
    EXPECT_NE(thrown_by("a, b", expression, {whole({1, 2}), whole({1, 0})}), "nothing")
        << expression;
    EXPECT_EQ(thrown_by("a, b", expression, {whole({1, kLeast}), whole({3, 1})}), "nothing");
    EXPECT_EQ(thrown_by("a, b", expression, {at::tensor({1.5}), at::tensor({0.0})}), "nothing")
        << "floating point has an infinity";
  }
  // A number that becomes the least one in the type that is divided in.
  const at::Tensor ints = at::tensor({std::numeric_limits<int>::min()}, at::kInt);
  EXPECT_NE(thrown_by("a, b: int", "torch.remainder(a, b)", {ints, -1}), "nothing");
  EXPECT_EQ(thrown_by("a, b: int", "torch.remainder(a, b)", {ints, 2}), "nothing");
  EXPECT_EQ(thrown_by("a, b", "torch.remainder(a, b)", {whole({}), whole({})}), "nothing");
}

TEST(SafeOperators, TensorsThatAreDividedInPlaceDoNotMakeTheirOwnDivisors) {
  // The first division writes the -1 that the second would divide by.
  const auto divided = [](const std::string& how, std::int64_t last) {
    const at::Tensor numbers = at::full({10}, 3, at::kLong);
    numbers[2] = -3;
    numbers[4] = last;
    return thrown_by("x", how, {numbers});
  };
  for (const char* const how :
       {"x[2::2].floor_divide_(x[:-2:2])", "x[2::2].remainder_(x[:-2:2])",
        "x[2::2].fmod_(x[:-2:2])", "x[2::2].div_(x[:-2:2], rounding_mode=\"trunc\")"}) {
    EXPECT_THAT(divided(how, kLeast), HasSubstr("the least whole number is divided by -1")) << how;
    EXPECT_THAT(divided(how, kLeast + 1), Not(HasSubstr("divided by -1"))) << how;
  }
}

TEST(SafeOperators, AnEmptyTextIsNotLookedFor) {
  const auto looked_for = [](const char* expression, const char* wanted) {
    return thrown_by("a: str, b: str", expression, {"ab", wanted});
  };
  for (const char* const expression : {"a.replace(b, \"\")", "a.rsplit(b)"}) {
    EXPECT_THAT(looked_for(expression, ""), HasSubstr("an empty text is looked for")) << expression;
    EXPECT_EQ(looked_for(expression, "b"), "nothing") << expression;
  }
}

TEST(SafeOperators, DivisorsAndMultiplesOfTheLeastNumberAreNotTaken) {
  const auto divisor = [](std::int64_t a, std::int64_t b) {
    return thrown_by("a: int, b: int", "torch.gcd(a, b)", {a, b});
  };
  EXPECT_EQ(run_safely("a: int, b: int", "torch.gcd(a, b)", {12, 18}).toInt(), 6);
  EXPECT_THAT(divisor(kLeast, -1), HasSubstr("divided by -1"));
  EXPECT_THAT(divisor(-1, kLeast), HasSubstr("divided by -1"));
  EXPECT_EQ(divisor(kLeast, 7), "nothing");
  EXPECT_EQ(divisor(kLeast, kLeast), "nothing");
  // 2^63 is one more than a multiple of 7: their divisor is -1 for the kernel.
  const auto multiple = [](const at::Tensor& a, const at::Tensor& b) {
    return thrown_by("a, b", "torch.lcm(a, b)", {a, b});
  };
  const at::Tensor least = at::tensor({kLeast}, at::kLong);
  const at::Tensor seven = at::tensor({7}, at::kLong);
  EXPECT_THAT(multiple(least, seven), HasSubstr("has no multiple"));
  EXPECT_THAT(multiple(seven.expand({5}), least), HasSubstr("has no multiple"));
  EXPECT_THAT(multiple(at::tensor({std::numeric_limits<int>::min()}, at::kInt), seven.to(at::kInt)),
              HasSubstr("has no multiple"));
  EXPECT_EQ(multiple(least + 1, seven), "nothing");
}

TEST(SafeOperators, PaddingHasAsManyNumbersAsItTakes) {
  const at::Tensor picture = at::ones({1, 2, 4, 4});
  const auto pad = [&](const std::string& name, std::vector<std::int64_t> padding) {
    return thrown_by(
        "x, p: List[int]", "torch." + name + "(x, p)",
        {name.ends_with("1d") ? picture[0] : picture, c10::List<std::int64_t>(std::move(padding))});
  };
  for (const char* const kind : {"reflection", "replication"}) {
    const std::string name = std::string(kind) + "_pad";
    EXPECT_EQ(pad(name + "2d", {1, 1, 1, 1}), "nothing");
    EXPECT_EQ(pad(name + "1d", {1, 1}), "nothing");
    for (const std::size_t count : {0U, 1U, 2U, 3U, 5U, 8U}) {
      const std::vector<std::int64_t> ones(count, 1);
      EXPECT_THAT(pad(name + "2d", ones), HasSubstr("padding has")) << name << count;
      if (count == 2) continue;
      EXPECT_THAT(pad(name + "1d", ones), HasSubstr("padding has")) << name << count;
    }
  }
}

TEST(SafeOperators, ListsWithoutAnOrderAreNotSorted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto sorted = [&](std::vector<double> values) {
    return thrown_by("l: List[float]", "sorted(l)", {c10::List<double>(std::move(values))});
  };
  EXPECT_THAT(sorted({1, nan, 2}), HasSubstr("a list with a NaN is sorted"));
  EXPECT_THAT(sorted(std::vector<double>(50, nan)), HasSubstr("NaN"));
  EXPECT_EQ(sorted({}), "nothing");
  const auto list =
      run_safely("l: List[float]", "sorted(l)",
                 {c10::List<double>({3, -std::numeric_limits<double>::infinity(), 1})});
  EXPECT_EQ(list.toDoubleVector().back(), 3);
  EXPECT_THAT(thrown_by("l: List[Tensor]", "sorted(l)",
                        {c10::List<at::Tensor>({at::ones({1}), at::zeros({1})})}),
              HasSubstr("without an order"));
  EXPECT_EQ(
      run_safely("l: List[int]", "sorted(l)", {c10::List<std::int64_t>({2, 1})}).toIntVector(),
      (std::vector<std::int64_t>{1, 2}));
}

}  // namespace
}  // namespace pareto::runtime
