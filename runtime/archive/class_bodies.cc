#include "runtime/archive/class_bodies.h"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/archive/code_words.h"

namespace pareto::runtime {
namespace {

/// Attributes of a module that hold a list instead of a type.
constexpr std::array<std::string_view, 5> kLists = {"__parameters__", "__buffers__",
                                                    "__annotations__", "__forward_hooks__",
                                                    "__forward_pre_hooks__"};

/// A statement without its strings and comments; brackets may lead it over several lines.
struct Statement {
  std::size_t line = 0;         ///< its first
  std::size_t indent = 0;       ///< indent in blanks
  std::string_view first_word;  ///< empty: it begins with none
  std::string_view base;        ///< the first word after its first bracket
  bool typed = false;           ///< it has a colon before any "="
  bool assigned = false;        ///< it has an "="
};

/// Reads code statement by statement. Threads: one owner.
class StatementReader {
 public:
  explicit StatementReader(std::string_view code) : code_(code) {}

  /// Reads the next one. Returns false at the end.
  bool next(Statement& statement) {
    statement = {};
    bool began = false;
    std::size_t open = 0;
    std::size_t line_start = at_;
    while (at_ < code_.size()) {
      const char c = code_[at_];
      if (c == '\n') {
        ++at_;
        ++line_;
        if (began && open == 0) return true;
        if (!began) line_start = at_;
        continue;
      }
      if (c == '#') {
        skip_comment();
        continue;
      }
      if (is_blank(c) || skip_continuation()) {
        if (is_blank(c)) ++at_;
        continue;
      }
      if (!began) {
        began = true;
        statement.line = line_;
        statement.indent = at_ - line_start;
        if (is_word(c)) statement.first_word = word();
      } else if (statement.base.empty() && open == 1 && is_word(c)) {
        statement.base = word();
      }
      take(statement, open);
    }
    return began;
  }
  /// Returns whether there is a comment that LibTorch reads as a type, so that what is code
  /// differs.
  bool has_type_comment() const { return type_comment_; }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  std::string_view word() const {
    std::size_t end = at_;
    while (end < code_.size() && is_word(code_[end])) ++end;
    return code_.substr(at_, end - at_);
  }
  void skip_comment() {
    type_comment_ = type_comment_ || code_.substr(at_).starts_with("# type:");
    at_ = std::min(code_.find('\n', at_), code_.size());
  }
  /// Skips a continuation: a backslash before a line's end joins it with the next one.
  bool skip_continuation() {
    if (code_[at_] != '\\') return false;
    const std::size_t end = code_.find_first_not_of(" \t\r", at_ + 1);
    if (end == std::string_view::npos || code_[end] != '\n') return false;
    at_ = end + 1;
    ++line_;
    return true;
  }
  /// Takes one token.
  void take(Statement& statement, std::size_t& open) {
    const char c = code_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (is_word(c)) {
      at_ += word().size();
      return;
    }
    if (c == '(' || c == '[' || c == '{') ++open;
    if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
    if (open == 0 && c == ':' && !statement.assigned) statement.typed = true;
    if (open == 0 && c == '=') {
      if (code_.substr(at_, 2) == "==") {
        at_ += 2;
        return;
      }
      statement.assigned = true;
    }
    // "!=", "<=", "+=" and the like assign nothing that a class may hold.
    const bool pair = std::string_view("!<>+-*/%&|^").find(c) != std::string_view::npos &&
                      code_.substr(at_ + 1, 1) == "=";
    at_ += pair ? 2 : 1;
  }
  void skip_string(char quote) {
    const std::string three(3, quote);
    const std::string_view ending =
        code_.substr(at_).starts_with(three) ? std::string_view(three) : code_.substr(at_, 1);
    at_ += ending.size();
    while (at_ < code_.size() && !code_.substr(at_).starts_with(ending)) {
      if (code_[at_] == '\\') ++at_;
      if (at_ < code_.size() && code_[at_] == '\n') ++line_;
      ++at_;
    }
    at_ = std::min(at_ + ending.size(), code_.size());
  }

  const std::string_view code_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool type_comment_ = false;
};

/// Returns what such a statement lacks in a class of that kind; empty: nothing.
std::string_view missing_in(const Statement& statement, std::string_view base) {
  if (statement.first_word == "def" || (!statement.typed && !statement.assigned)) return {};
  const bool takes_value =
      base == "Enum" ||
      (base != "NamedTuple" && std::ranges::find(kLists, statement.first_word) != kLists.end());
  if (takes_value) return statement.assigned ? "" : "value";
  return statement.typed ? "" : "type";
}

}  // namespace

Expected<> check_class_bodies(std::string_view code) {
  StatementReader reader(code);
  Statement statement;
  bool in_class = false;
  std::string_view base;
  std::size_t margin = 0;  // of the class's own statements; 0: none was seen yet
  bool first = true;
  while (reader.next(statement)) {
    if (first && statement.indent > 0) {
      return fail(ErrorCode::kCorrupt, "its code begins with a blank in line {}", statement.line);
    }
    first = false;
    if (statement.indent == 0) {
      in_class = statement.first_word == "class";
      base = statement.base;
      margin = 0;
      continue;
    }
    if (!in_class) continue;
    if (margin == 0) margin = statement.indent;
    if (statement.indent > margin) continue;
    const std::string_view missing = missing_in(statement, base);
    if (missing.empty()) continue;
    return fail(ErrorCode::kCorrupt, "the attribute \"{}\" has no {} in line {} of its code",
                statement.first_word, missing, statement.line);
  }
  if (reader.has_type_comment()) {
    return fail(ErrorCode::kCorrupt, "its code has a type in a comment");
  }
  return {};
}

}  // namespace pareto::runtime
