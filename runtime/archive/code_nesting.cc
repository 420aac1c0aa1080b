#include "runtime/archive/code_nesting.h"

#include <algorithm>
#include <vector>

#include "runtime/archive/code_words.h"

namespace pareto::runtime {
namespace {

/// One pass over the code, token by token.
class NestingScan {
 public:
  explicit NestingScan(std::string_view code) : code_(code) {}

  Expected<> run() {
    while (at_ < code_.size()) {
      step();
      if (depth_ <= kDeepestCode) continue;
      return fail(ErrorCode::kCorrupt, "its code nests deeper than {} levels in line {}",
                  kDeepestCode, line_);
    }
    return {};
  }

 private:
  void step() {
    const char c = code_[at_];
    if (c == '\n') return end_line();
    if (c == ' ' || c == '\t' || c == '\r') return skip_blanks();
    line_began_ = true;
    if (c == '#') return skip_comment();
    if (c == '"' || c == '\'') return skip_string(c);
    if (is_word(c)) return skip_word();
    ++at_;
    if (c == '(' || c == '[' || c == '{') return open();
    if (c == ')' || c == ']' || c == '}') return close();
    if (c == ',') return begin_element();
    add_token();
  }

  void end_line() {
    ++at_;
    ++line_;
    // Within brackets the statement goes on.
    if (levels_.size() > 1) return;
    line_began_ = false;
    levels_.front() = 0;
    depth_ = 0;
  }
  void skip_blanks() {
    const std::size_t end = code_.find_first_not_of(" \t\r", at_);
    const std::size_t next = end == std::string_view::npos ? code_.size() : end;
    if (!line_began_ && levels_.size() == 1) {
      // LibTorch writes two blanks a level; one is the least that its parser takes for another.
      add(next - at_);
    }
    at_ = next;
  }
  void skip_comment() {
    const std::size_t end = code_.find('\n', at_);
    at_ = end == std::string_view::npos ? code_.size() : end;
  }
  void skip_string(char quote) {
    add_token();
    const std::string_view three = code_.substr(at_, 3);
    const bool triple = three.size() == 3 && three[1] == quote && three[2] == quote;
    at_ += triple ? 3 : 1;
    while (at_ < code_.size()) {
      if (code_[at_] == '\\') {
        at_ += 2;
      } else if (!triple && code_[at_] == quote) {
        ++at_;
        return;
      } else if (triple && code_.substr(at_, 3) == three) {
        at_ += 3;
        return;
      } else {
        if (code_[at_] == '\n') ++line_;
        ++at_;
      }
    }
  }
  void skip_word() {
    add_token();
    while (at_ < code_.size() && is_word(code_[at_])) ++at_;
  }

  void open() {
    levels_.push_back(0);
    add(1);
  }
  void close() {
    if (levels_.size() > 1) {
      depth_ -= levels_.back();
      levels_.pop_back();
    }
    add_token();
  }
  void begin_element() {
    // The bracket itself still counts.
    const std::size_t open = levels_.size() > 1 ? 1 : 0;
    depth_ -= levels_.back() - std::min(levels_.back(), open);
    levels_.back() = std::min(levels_.back(), open);
  }
  void add_token() { add(1); }
  void add(std::size_t count) {
    levels_.back() += count;
    depth_ += count;
  }

  const std::string_view code_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool line_began_ = false;
  std::size_t depth_ = 0;               ///< the sum of levels_
  std::vector<std::size_t> levels_{0};  ///< count of each open bracket; the statement first
};

}  // namespace

Expected<> check_nesting(std::string_view code) { return NestingScan(code).run(); }

}  // namespace pareto::runtime
