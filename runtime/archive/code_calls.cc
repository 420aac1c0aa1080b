#include "runtime/archive/code_calls.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "runtime/archive/code_tokens.h"
#include "runtime/archive/code_words.h"
#include "runtime/archive/operator_review.h"

namespace pareto::runtime {
namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

/// Words after which a bracket opens an expression.
const Words kKeywords = {"if",  "else", "elif", "while",  "return", "is",      "and",
                         "or",  "not",  "for",  "in",     "raise",  "assert",  "del",
                         "def", "pass", "None", "global", "break",  "continue"};
/// Functions of the language that compute.
const Words kFunctions = {"annotate", "uninitialized", "unchecked_cast",
                          "getattr",  "isinstance",    "_to_tensor",
                          "int",      "float",         "bool",
                          "complex",  "str",           "list",
                          "dict",     "tuple",         "len",
                          "range",    "rangelist",     "enumerate",
                          "zip",      "min",           "max",
                          "abs",      "sum",           "all",
                          "any",      "round",         "pow",
                          "divmod",   "sorted",        "ord",
                          "chr",      "bin",           "hex",
                          "oct"};
/// Functions of the language that print, start threads or look for names that are made up.
const Words kRefused = {"print", "fork", "awaitable", "hasattr", "setattr", "delattr"};
/// The classes of libraries, as code and pickles name them.
constexpr std::string_view kLibraryClasses = "__torch__.torch.classes.";
/// Packed weights of quantised layers.
const Words kPackedWeights = {"quantized.Conv2dPackedParamsBase",
                              "quantized.Conv3dPackedParamsBase",
                              "quantized.LinearPackedParamsBase",
                              "quantized.EmbeddingPackedParamsBase", "rnn.CellParamsBase"};
/// Nodes that the compiler makes of the language's own means, "a, b = t" for one. By their names
/// they would be called with any values, and return values that nobody takes.
const Words kNoFunctions = {"CallFunction",
                            "CallMethod",
                            "ConstantChunk",
                            "Constant",
                            "GetAttr",
                            "DictConstruct",
                            "If",
                            "ListConstruct",
                            "ListUnpack",
                            "Loop",
                            "Param",
                            "Return",
                            "TupleIndex",
                            "TupleConstruct",
                            "TupleSlice",
                            "TupleUnpack",
                            "isinstance",
                            "Uninitialized",
                            "unchecked_cast",
                            "tolist",
                            "unchecked_unwrap_optional"};
/// Methods that LibTorch calls by itself while it loads.
const Words kCalledOnLoad = {"__setstate__", "__getstate__", "__init__"};

/// One pass over a file of code.
class CallScan {
 public:
  CallScan(std::string_view code, const std::set<std::string, std::less<>>& defined,
           std::size_t& calls)
      : tokens_(code), defined_(defined), calls_(calls) {}

  Expected<> run() {
    for (;;) {
      PARETO_ASSIGN(const CodeToken token, tokens_.next());
      if (auto checked = take(token); !checked) {
        return fail(checked.error().code, "line {} of its code: {}", token.line,
                    checked.error().message);
      }
      if (token.kind == CodeToken::Kind::kEnd) return {};
      before_ = token;
    }
  }

 private:
  /// A part of the code that LibTorch computes as it reads it.
  enum class Part { kBody, kHeader, kMember };

  /// Takes the next token.
  Expected<> take(const CodeToken& token) {
    if (token.first) begin_statement(token);
    if (token.is_sign('(')) {
      PARETO_TRY(check_call());
    } else if (!token.is_sign('.') && !continues_chain(token)) {
      PARETO_TRY(check_name());
    }
    if (part_ != Part::kBody) PARETO_TRY(check_written_out(token));
    if (token.is_sign('(')) ++open_;
    if (token.is_sign(')') && open_ > 0) --open_;
    if (token.kind == CodeToken::Kind::kWord) return add_word(token);
    if (token.is_sign('.')) {
      // A dot after a bracket begins a chain that has no name of its own.
      if (chain_.empty()) chain_.emplace_back();
      return {};
    }
    chain_.clear();
    return {};
  }

  /// Returns whether a dot leads to this word.
  bool continues_chain(const CodeToken& token) const {
    return token.kind == CodeToken::Kind::kWord && !token.first && before_.is_sign('.');
  }

  void begin_statement(const CodeToken& token) {
    open_ = 0;
    if (token.indent == 0) {
      in_class_ = token.is_word("class");
      margin_ = 0;
    } else if (in_class_ && margin_ == 0) {
      margin_ = token.indent;
    }
    part_ = Part::kBody;
    if (token.is_word("def")) part_ = Part::kHeader;
    if (in_class_ && token.indent > 0 && token.indent <= margin_ && !token.is_word("def")) {
      part_ = Part::kMember;
    }
  }

  /// Returns whether it takes an element or an attribute out of a value; types have brackets too.
  bool takes_apart(const CodeToken& token) const {
    const bool of_constant = !chain_.empty() && chain_.front() == "CONSTANTS";
    if (token.is_sign('.')) return of_constant && chain_.size() > 1;
    if (!token.is_sign('[')) return false;
    return of_constant || before_.is_sign(']') || before_.is_sign(')') || before_.is_sign('}') ||
           before_.kind == CodeToken::Kind::kText || before_.kind == CodeToken::Kind::kNumber;
  }

  /// Checks that a default, or the value of an attribute, is not computed.
  Expected<> check_written_out(const CodeToken& token) {
    const std::size_t brackets = part_ == Part::kHeader ? 1 : 0;
    const bool computes =
        token.is_word("for") || token.is_word("if") || (token.is_sign('(') && open_ >= brackets) ||
        (token.kind == CodeToken::Kind::kSign &&
         std::string_view("*/%+@{&|^~<").find(token.text) != std::string_view::npos) ||
        takes_apart(token);
    if (!computes) return {};
    return fail(ErrorCode::kPermission,
                "a default or an attribute is computed as it is read (\"{}\"); shards have it "
                "written out",
                token.text);
  }

  Expected<> add_word(const CodeToken& token) {
    if (!continues_chain(token)) {
      chain_.clear();
      before_chain_ = before_.text;
      if (is_one_of(token.text, kRefused)) {
        return fail(ErrorCode::kPermission, "no shard may use \"{}\"; take it out of the model",
                    token.text);
      }
      if (token.text == "with" || token.text == "import") {
        return fail(ErrorCode::kPermission, "no shard may have \"{}\"", token.text);
      }
      // A pickle calls its class, and gets nothing if no name has the value: what follows in the
      // pickle then is not what its check took it for.
      if (token.text == "Enum") {
        return fail(ErrorCode::kPermission,
                    "no shard may define an Enum; take it out of the model");
      }
    }
    if (before_.is_word("def") && is_one_of(token.text, kCalledOnLoad)) {
      return fail(ErrorCode::kPermission,
                  "no shard may define {}: LibTorch would run it on loading", token.text);
    }
    chain_.push_back(token.text);
    return {};
  }

  /// Checks a chain of names at a bracket.
  Expected<> check_call() {
    const bool is_value = before_.is_sign(')') || before_.is_sign(']') || before_.is_sign('}') ||
                          before_.kind == CodeToken::Kind::kText ||
                          before_.kind == CodeToken::Kind::kNumber;
    if (is_value) return fail(ErrorCode::kPermission, "no shard may call a value");
    if (chain_.empty() || before_.kind != CodeToken::Kind::kWord) return {};
    if (++calls_ > kMostCalls) {
      return fail(ErrorCode::kCorrupt, "the archive has more than {} calls", kMostCalls);
    }
    const std::string_view base = chain_.front();
    const std::string_view last = chain_.back();
    if (chain_.size() == 1) return check_function(last);
    if (base == "torch" && chain_.size() == 2) {
      return check_operator(fmt::format("aten::{}", last));
    }
    if (base == "ops" && chain_.size() == 3) {
      if (chain_[1] == "prim" && is_one_of(last, kNoFunctions)) {
        return fail(ErrorCode::kPermission, "no shard may call prim::{} by its name", last);
      }
      return check_operator(fmt::format("{}::{}", chain_[1], last));
    }
    PARETO_TRY(check_name());
    if (base == "__torch__") return check_defined(last);
    return check_method(last);
  }

  Expected<> check_function(std::string_view name) {
    const bool is_defined_here = before_chain_ == "def" || before_chain_ == "class";
    if (is_defined_here || is_one_of(name, kKeywords) || is_one_of(name, kFunctions)) return {};
    return fail(ErrorCode::kPermission, "no shard may call \"{}\"", name);
  }

  Expected<> check_defined(std::string_view name) const {
    if (defined_.contains(name)) return {};
    return fail(ErrorCode::kPermission, "it calls {}, which the archive does not define", name);
  }

  Expected<> check_method(std::string_view name) const {
    const std::string as_operator = fmt::format("aten::{}", name);
    const auto verdict = review_operator(as_operator).verdict;
    if (verdict == OperatorReview::Verdict::kUnknown && defined_.contains(name)) return {};
    return check_operator(as_operator);
  }

  /// Checks a chain of names that is not called.
  Expected<> check_name() {
    if (chain_.empty()) return {};
    const std::string_view base = chain_.front();
    if (base == "torch" || base == "ops") {
      return fail(ErrorCode::kPermission,
                  "no shard may use \"{}\" except to call an operator of it", join_chain());
    }
    if (base != "__torch__") return {};
    return check_class(join_chain());
  }

  std::string join_chain() const {
    std::string all;
    for (const std::string_view name : chain_) {
      all += all.empty() ? "" : ".";
      all += name;
    }
    return all;
  }

  CodeTokens tokens_;
  const std::set<std::string, std::less<>>& defined_;
  std::size_t& calls_;
  CodeToken before_;
  std::vector<std::string_view> chain_;  ///< names with dots between them
  std::string_view before_chain_;        ///< the token before it
  bool in_class_ = false;
  std::size_t margin_ = 0;  ///< blanks before the members of the class
  std::size_t open_ = 0;    ///< round brackets of the statement
  Part part_ = Part::kBody;
};

}  // namespace

Expected<> CodeCalls::add(std::string_view code) {
  CodeTokens tokens(code);
  CodeToken before;
  for (;;) {
    PARETO_ASSIGN(const CodeToken token, tokens.next());
    if (token.kind == CodeToken::Kind::kEnd) return {};
    const bool names = before.is_word("def") || before.is_word("class");
    if (names && token.kind == CodeToken::Kind::kWord) defined_.emplace(token.text);
    before = token;
  }
}

Expected<> CodeCalls::check(std::string_view code) {
  return CallScan(code, defined_, calls_).run();
}

Expected<> check_class(std::string_view name) {
  if (!name.starts_with(kLibraryClasses)) return {};
  name.remove_prefix(kLibraryClasses.size());
  if (is_one_of(name, kPackedWeights)) return {};
  return fail(ErrorCode::kPermission,
              "no shard may hold an object of the class {}; take it out of the model", name);
}

Expected<> check_pickled_classes(std::string_view pickle) {
  // A pickle has a line for the module and one for the class.
  std::string text(pickle);
  std::ranges::replace(text, '\n', '.');
  for (std::size_t at = text.find(kLibraryClasses); at != std::string::npos;
       at = text.find(kLibraryClasses, at)) {
    // Its library and its name: what follows may be an instruction that looks like a word.
    std::size_t end = at + kLibraryClasses.size();
    std::size_t dots = 0;
    while (end < text.size() && (is_word(text[end]) || (text[end] == '.' && ++dots < 2))) ++end;
    PARETO_TRY(check_class(std::string_view(text).substr(at, end - at)));
    at = end;
  }
  return {};
}

}  // namespace pareto::runtime
