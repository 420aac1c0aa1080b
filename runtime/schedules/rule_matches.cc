#include "runtime/schedules/rule_matches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/printable.h"
#include "core/base/text.h"
#include "runtime/schedules/patterns.h"

namespace pareto::schedules {
namespace {

/// Returns the length of the path of the outermost module that a rule finds around an operator; 0
/// if it looks anywhere; nothing if it does not look there.
std::optional<std::size_t> module_of(const UnitRule& rule, const WeightedNode& node) {
  const auto fitting = [&](const std::string& pattern) {
    return fitting_module(node.scope, pattern);
  };
  if (std::ranges::any_of(rule.except, fitting)) return std::nullopt;
  if (rule.modules.empty()) return 0;
  std::size_t shortest = 0;
  for (const std::string& pattern : rule.modules) {
    const std::size_t length = fitting(pattern);
    if (length > 0 && (shortest == 0 || length < shortest)) shortest = length;
  }
  return shortest > 0 ? std::optional(shortest) : std::nullopt;
}

bool fits_any_kind(const std::string& kind, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return fits_kind(kind, pattern);
         });
}

std::string short_kind(const WeightedNode& node) {
  const std::size_t colons = node.kind.rfind("::");
  return colons == std::string::npos ? node.kind : node.kind.substr(colons + 2);
}

/// Returns 'features.3 conv2d+relu'.
std::string name_with_kinds(const std::vector<std::size_t>& operators, const WeightedGraph& graph) {
  std::string kinds;
  for (const std::size_t op : operators) {
    kinds += (kinds.empty() ? "" : "+") + short_kind(graph.nodes[op]);
  }
  const std::string& scope = graph.nodes[operators.front()].scope;
  return scope.empty() ? kinds : scope + " " + kinds;
}

/// Finds chains of operators, each of which reads the one before.
class Chains {
 public:
  Chains(const UnitRule& rule, const WeightedGraph& graph)
      : rule_(rule), graph_(graph), users_(users_of(graph)), taken_(graph.nodes.size()) {
    for (const WeightedNode& node : graph.nodes) {
      allowed_.push_back(module_of(rule, node).has_value());
    }
  }

  std::vector<Match> find() {
    std::vector<Match> found;
    dead_.resize(rule_.sequence.size());
    for (std::size_t first = 0; first < graph_.nodes.size(); ++first) {
      std::vector<std::size_t> chain;
      if (!extend(chain, first)) continue;
      for (const std::size_t op : chain) taken_[op] = true;
      std::string name = name_with_kinds(chain, graph_);
      found.push_back({std::move(chain), std::move(name)});
    }
    return found;
  }

 private:
  /// Puts an operator at the chain's end, and behind it what else is needed.
  bool extend(std::vector<std::size_t>& chain, std::size_t op) {
    const std::size_t place = chain.size();
    if (taken_[op] || !allowed_[op] || !fits_kind(graph_.nodes[op].kind, rule_.sequence[place])) {
      return false;
    }
    // What failed once fails again: other chains only take operators away.
    if (dead_[place].contains(op)) return false;
    chain.push_back(op);
    if (chain.size() == rule_.sequence.size()) return true;
    for (const std::size_t user : users_[op]) {
      if (extend(chain, user)) return true;
    }
    chain.pop_back();
    dead_[place].insert(op);
    return false;
  }

  const UnitRule& rule_;
  const WeightedGraph& graph_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<bool> taken_;
  std::vector<bool> allowed_;
  std::vector<std::set<std::size_t>> dead_;  ///< one set for each place in the sequence
};

std::vector<std::string> all_modules(const WeightedGraph& graph) {
  std::set<std::string> modules;
  for (const WeightedNode& node : graph.nodes) {
    for (std::size_t end = 0; end < node.scope.size();) {
      end = std::min(node.scope.find('.', end + 1), node.scope.size());
      modules.insert(node.scope.substr(0, end));
    }
  }
  return {modules.begin(), modules.end()};
}

/// Returns the first few patterns, shortened.
std::string quoted(const std::vector<std::string>& patterns) {
  constexpr std::size_t kMostShown = 4;
  constexpr std::size_t kMostBytes = 60;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(patterns.size(), kMostShown); ++i) {
    const bool whole = patterns[i].size() <= kMostBytes;
    shown.push_back(whole ? patterns[i] : printable(patterns[i], kMostBytes) + "…");
  }
  const std::size_t more = patterns.size() - shown.size();
  return "\"" + join(shown, "\", \"") + "\"" + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::vector<Match> find_matches(const UnitRule& rule, const WeightedGraph& graph) {
  if (!rule.sequence.empty()) return Chains(rule, graph).find();
  std::vector<Match> found;
  std::map<std::string, std::size_t> by_module;  // the place in `found` of each module
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    const WeightedNode& node = graph.nodes[op];
    const auto length = module_of(rule, node);
    if (!length || !fits_any_kind(node.kind, rule.operators)) continue;
    if (!rule.operators.empty() || rule.join) {
      found.push_back({{op}, name_with_kinds({op}, graph)});
      continue;
    }
    std::string module = node.scope.substr(0, *length);
    const auto [place, is_new] = by_module.emplace(module, found.size());
    if (is_new) found.push_back({{}, std::move(module)});
    found[place->second].operators.push_back(op);
  }
  return found;
}

std::string why_no_match(const UnitRule& rule, const WeightedGraph& graph) {
  const auto in_modules = [&](const WeightedNode& node) {
    return module_of(rule, node).has_value();
  };
  if (std::ranges::none_of(graph.nodes, in_modules)) {
    if (rule.modules.empty()) return "except leaves out every operator";
    return fmt::format("no module fits {}{}{}", quoted(rule.modules),
                       rule.except.empty() ? "" : ", without those of except",
                       did_you_mean(rule.modules.front(), all_modules(graph)));
  }
  if (!rule.sequence.empty()) {
    return fmt::format("no operators of the kinds {} read one another in this order",
                       quoted(rule.sequence));
  }
  std::set<std::string> kinds;
  for (const WeightedNode& node : graph.nodes) {
    if (in_modules(node)) kinds.insert(short_kind(node));
  }
  const std::vector<std::string> known(kinds.begin(), kinds.end());
  return fmt::format("no operator {}is of the kind {}{}",
                     rule.modules.empty() ? "" : "of these modules ", quoted(rule.operators),
                     did_you_mean(rule.operators.front(), known));
}

}  // namespace pareto::schedules
