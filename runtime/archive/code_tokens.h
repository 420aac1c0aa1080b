// TorchScript code token by token. It takes no code for a name that LibTorch would take for
// something else: what could be read in two ways is refused.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

struct CodeToken {
  enum class Kind { kWord, kNumber, kText, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< a word, a number, a text with its quotes, or one character of a sign
  std::size_t line = 1;
  bool first = false;      ///< true if a statement begins here
  std::size_t indent = 0;  ///< blanks before it, if it is the first

  bool is_sign(char sign) const { return kind == Kind::kSign && text.front() == sign; }
  bool is_word(std::string_view word) const { return kind == Kind::kWord && text == word; }
};

/// Reads code. Threads: one owner.
class CodeTokens {
 public:
  explicit CodeTokens(std::string_view code) : code_(code) {}

  /// Returns the next token; kEnd at the end. Fails: kCorrupt with the line (a character that code
  /// has only in texts, a text without an end, a number that runs into a name).
  Expected<CodeToken> next();

 private:
  void skip_to_token();
  Expected<std::size_t> length_of_text() const;
  std::size_t length_of_number() const;

  const std::string_view code_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t open_ = 0;  ///< open brackets
  bool first_ = true;     ///< whether the next token begins a statement
};

}  // namespace pareto::runtime
