#include "runtime/archive/code_tokens.h"

#include <algorithm>

#include "runtime/archive/code_words.h"

namespace pareto::runtime {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void CodeTokens::skip_to_token() {
  while (at_ < code_.size()) {
    const char c = code_[at_];
    if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
      if (open_ == 0) first_ = true;
    } else if (c == ' ' || c == '\t') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(code_.find('\n', at_), code_.size());
    } else if (code_.substr(at_, 2) == "\\\n") {
      at_ += 2;
      ++line_;
    } else {
      return;
    }
  }
}

Expected<std::size_t> CodeTokens::length_of_text() const {
  const std::string_view rest = code_.substr(at_);
  const std::string three(3, rest.front());
  const std::string_view quote =
      rest.starts_with(three) ? std::string_view(three) : rest.substr(0, 1);
  for (std::size_t at = quote.size(); at < rest.size(); ++at) {
    if (rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '\n' && quote.size() == 1) {
      break;
    } else if (rest.substr(at).starts_with(quote)) {
      return at + quote.size();
    }
  }
  return fail(ErrorCode::kCorrupt, "a text has no end in line {} of its code", line_);
}

std::size_t CodeTokens::length_of_number() const {
  std::size_t at = at_;
  const auto skip_digits = [&] {
    while (at < code_.size() && is_digit(code_[at])) ++at;
  };
  skip_digits();
  if (at < code_.size() && code_[at] == '.') {
    ++at;
    skip_digits();
  }
  if (at < code_.size() && (code_[at] == 'e' || code_[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < code_.size() && (code_[exponent] == '-' || code_[exponent] == '+')) ++exponent;
    if (exponent < code_.size() && is_digit(code_[exponent])) {
      at = exponent;
      skip_digits();
    }
  }
  if (at < code_.size() && code_[at] == 'j') ++at;
  return at - at_;
}

Expected<CodeToken> CodeTokens::next() {
  skip_to_token();
  CodeToken token;
  token.line = line_;
  token.first = first_;
  token.indent = at_ - line_start_;
  first_ = false;
  if (at_ >= code_.size()) return token;
  const char c = code_[at_];
  std::size_t length = 1;
  if (c == '"' || c == '\'') {
    token.kind = CodeToken::Kind::kText;
    PARETO_ASSIGN(length, length_of_text());
  } else if (is_digit(c) || (c == '.' && at_ + 1 < code_.size() && is_digit(code_[at_ + 1]))) {
    token.kind = CodeToken::Kind::kNumber;
    length = length_of_number();
    if (at_ + length < code_.size() && is_word(code_[at_ + length])) {
      return fail(ErrorCode::kCorrupt, "a number runs into a name in line {} of its code", line_);
    }
  } else if (is_word(c)) {
    token.kind = CodeToken::Kind::kWord;
    while (at_ + length < code_.size() && is_word(code_[at_ + length])) ++length;
  } else if (c > ' ' && c < '\x7f' && c != '\\') {
    token.kind = CodeToken::Kind::kSign;
    if (c == '(' || c == '[' || c == '{') ++open_;
    if ((c == ')' || c == ']' || c == '}') && open_ > 0) --open_;
  } else {
    return fail(ErrorCode::kCorrupt, "line {} of its code has a character that no code has", line_);
  }
  token.text = code_.substr(at_, length);
  line_ += static_cast<std::size_t>(std::ranges::count(token.text, '\n'));
  at_ += length;
  return token;
}

}  // namespace pareto::runtime
