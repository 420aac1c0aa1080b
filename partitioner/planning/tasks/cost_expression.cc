#include "partitioner/planning/tasks/cost_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::tasks {

struct CostExpression::Node {
  enum class Kind { kNumber, kName, kNegated, kOperation };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::size_t name = 0;
  char operation = 0;
  std::unique_ptr<Node> left{};
  std::unique_ptr<Node> right{};
  std::string text{};  ///< text of a divisor

  bool has_names() const {
    return kind == Kind::kName || (left && left->has_names()) || (right && right->has_names());
  }

  std::optional<double> evaluate(const std::function<double(std::size_t)>& value_of) const {
    if (kind == Kind::kNumber) return number;
    if (kind == Kind::kName) return value_of(name);
    const auto a = left->evaluate(value_of);
    if (!a) return std::nullopt;
    if (kind == Kind::kNegated) return -*a;
    const auto b = right->evaluate(value_of);
    if (!b) return std::nullopt;
    switch (operation) {
      case '+':
        return *a + *b;
      case '-':
        return *a - *b;
      case '*':
        return *a * *b;
      default:
        return *b == 0 ? std::nullopt : std::optional(*a / *b);
    }
  }

  void collect_divisors(std::vector<std::string>& all) const {
    if (left) left->collect_divisors(all);
    if (operation == '/') all.push_back(right->text);
    if (right) right->collect_divisors(all);
  }
};

/// expression: term { (+|-) term }; term: factor { (*|/) factor };
/// factor: number | name | ( expression ) | - factor.
class CostExpression::Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), names_(names) {}

  using Parsed = Expected<std::unique_ptr<Node>>;

  Parsed parse() {
    if (text_.size() > kMostExpressionBytes) {
      return fail(ErrorCode::kInvalidArgument, "a metric of {} bytes: {} are possible",
                  text_.size(), kMostExpressionBytes);
    }
    PARETO_ASSIGN(auto root, sum());
    skip_blanks();
    if (at_ != text_.size()) return wrong("an operator (+ - * /) or the end is expected");
    return root;
  }

 private:
  tl::unexpected<Error> wrong(const std::string& what, std::optional<std::size_t> place = {}) {
    return fail(ErrorCode::kInvalidArgument, "metric \"{}\", character {}: {}",
                printable(text_, kMostExpressionBytes), place.value_or(at_) + 1, what);
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  /// Takes one of these characters if it comes next; 0 if none does.
  char take(std::string_view any) {
    skip_blanks();
    if (at_ == text_.size() || any.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  Parsed sum() {
    PARETO_ASSIGN(auto left, product());
    while (const char operation = take("+-")) {
      PARETO_ASSIGN(auto right, product());
      left = operation_of(operation, std::move(left), std::move(right));
    }
    return left;
  }

  Parsed product() {
    PARETO_ASSIGN(auto left, factor());
    while (const char operation = take("*/")) {
      skip_blanks();
      const std::size_t begin = at_;
      PARETO_ASSIGN(auto right, factor());
      if (operation == '/') {
        right->text = text_.substr(begin, at_ - begin);
        const auto none = [](std::size_t) { return 0.0; };
        if (!right->has_names() && right->evaluate(none).value_or(0) == 0) {
          return wrong(fmt::format("it divides by {}, which is zero", right->text), begin);
        }
      }
      left = operation_of(operation, std::move(left), std::move(right));
    }
    return left;
  }

  static std::unique_ptr<Node> operation_of(char operation, std::unique_ptr<Node> left,
                                            std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = Node::Kind::kOperation;
    node->operation = operation;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  Parsed factor() {
    if (take("-") != 0) {
      auto node = std::make_unique<Node>();
      node->kind = Node::Kind::kNegated;
      PARETO_ASSIGN(node->left, factor());
      return node;
    }
    if (take("(") != 0) {
      PARETO_ASSIGN(auto inner, sum());
      if (take(")") == 0) return wrong("a ) is expected");
      return inner;
    }
    skip_blanks();
    if (at_ < text_.size()) {
      const auto first = static_cast<unsigned char>(text_[at_]);
      if (std::isdigit(first) != 0 || first == '.') return number();
      if (std::isalpha(first) != 0) return name();
    }
    return wrong("a number, a name or a ( is expected");
  }

  Parsed number() {
    auto node = std::make_unique<Node>();
    const char* const end = text_.data() + text_.size();
    const auto [at, status] = std::from_chars(text_.data() + at_, end, node->number);
    if (status != std::errc()) return wrong("a number is expected");
    at_ = static_cast<std::size_t>(at - text_.data());
    return node;
  }

  Parsed name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const auto found = std::ranges::find(names_, word);
    if (found == names_.end()) {
      return wrong(fmt::format("nothing is called \"{}\"{}; there are {}", word,
                               did_you_mean(word, names_), join(names_)),
                   begin);
    }
    auto node = std::make_unique<Node>();
    node->kind = Node::Kind::kName;
    node->name = static_cast<std::size_t>(found - names_.begin());
    return node;
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
};

CostExpression::CostExpression(std::unique_ptr<Node> root) : root_(std::move(root)) {}
CostExpression::CostExpression(CostExpression&&) noexcept = default;
CostExpression& CostExpression::operator=(CostExpression&&) noexcept = default;
CostExpression::~CostExpression() = default;

Expected<CostExpression> CostExpression::parse(std::string_view text,
                                               const std::vector<std::string>& names) {
  PARETO_ASSIGN(auto root, Parser(text, names).parse());
  return CostExpression(std::move(root));
}

std::optional<double> CostExpression::evaluate(
    const std::function<double(std::size_t)>& value_of) const {
  return root_->evaluate(value_of);
}

std::vector<std::string> CostExpression::divisors() const {
  std::vector<std::string> all;
  root_->collect_divisors(all);
  return all;
}

}  // namespace pareto::tasks
