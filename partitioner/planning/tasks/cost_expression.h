// Expressions over named quantities, as "bytes / flops" or "time + 0.5 * weights".
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::tasks {

/// The longest expression, in bytes.
inline constexpr std::size_t kMostExpressionBytes = 256;

/// Numbers, names, + - * / and parentheses.
///
/// Threads: any, once made.
class CostExpression {
 public:
  /// Parses a text. `names`: the quantities that there are. Fails: kInvalidArgument with the place
  /// of what is wrong (an unknown name, a division by a number that is 0, what is no expression).
  static Expected<CostExpression> parse(std::string_view text,
                                        const std::vector<std::string>& names);
  CostExpression(CostExpression&&) noexcept;
  CostExpression& operator=(CostExpression&&) noexcept;
  ~CostExpression();

  /// Computes it. `value_of` gives the quantity with that index into `names`. No value: it divides
  /// by zero.
  std::optional<double> evaluate(const std::function<double(std::size_t)>& value_of) const;
  /// Returns the parts of the text that it divides by, in order.
  std::vector<std::string> divisors() const;

 private:
  struct Node;
  class Parser;
  explicit CostExpression(std::unique_ptr<Node> root);

  std::unique_ptr<Node> root_;
};

}  // namespace pareto::tasks
