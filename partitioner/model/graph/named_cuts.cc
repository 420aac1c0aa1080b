#include "partitioner/model/graph/named_cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "core/base/text.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/groups.h"
#include "partitioner/model/graph/module_ends.h"

namespace pareto::model {
namespace {

constexpr std::string_view kAfter = "after:";
constexpr std::string_view kOnly = "only:";
constexpr std::string_view kOperators = "op:";
// A name is for people: a set of more modules is named by its operators.
constexpr std::size_t kMostNamedModules = 6;

std::int64_t operators_of(const Graph& graph) {
  return static_cast<std::int64_t>(graph.operators.size());
}

bool is_under(std::string_view path, std::string_view module) {
  return path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.');
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Reads "41:50-60", as cut_name() writes it after "op:".
Expected<plan::OperatorRanges> ranges_named(std::string_view name) {
  plan::OperatorRanges ranges;
  for (const std::string& part : split_list(name.substr(kOperators.size()), ':')) {
    const auto dash = part.find('-');
    const auto begin = dash == std::string::npos ? 0 : whole_number(part.substr(0, dash));
    const auto end = whole_number(dash == std::string::npos ? part : part.substr(dash + 1));
    const std::int64_t least = ranges.empty() ? 0 : ranges.back().end + 1;
    if (!begin || !end || *begin >= *end || (*begin < least && !ranges.empty())) {
      return fail(ErrorCode::kInvalidArgument,
                  "\"{}\": ranges of operators ascend, as in op:41:50-60 (the first 41, and 50 to "
                  "60, which is not among them)",
                  name);
    }
    ranges.push_back({*begin, *end});
  }
  return ranges;
}

/// Returns the outermost module that an operator ends: it has none that is not in the set.
std::optional<std::string> module_within(const Graph& graph, const plan::OperatorRanges& set,
                                         std::int64_t op) {
  const std::string& scope = graph.operators[static_cast<std::size_t>(op)].scope;
  for (std::string& path : path_prefixes(scope)) {
    bool within = true;
    for (std::int64_t other = 0; within && other < operators_of(graph); ++other) {
      within = plan::holds(set, other) ||
               !is_under(graph.operators[static_cast<std::size_t>(other)].scope, path);
    }
    if (within) return std::move(path);
  }
  return std::nullopt;
}

/// Returns the modules that a set ends with: it is the smallest one that holds them. No value means
/// that some of its last operators are in no module that it holds whole.
std::optional<std::vector<std::string>> last_modules(const Graph& graph,
                                                     const plan::OperatorRanges& set) {
  std::vector<bool> is_last(graph.operators.size(), true);
  const auto needed = needed_by_each(graph);
  const std::vector<std::int64_t> operators = operators_in(set);
  for (const std::int64_t op : operators) {
    for (const std::int64_t other : needed[static_cast<std::size_t>(op)]) {
      is_last[static_cast<std::size_t>(other)] = false;
    }
  }
  std::set<std::string> modules;
  for (const std::int64_t op : operators) {
    if (!is_last[static_cast<std::size_t>(op)]) continue;
    const auto module = module_within(graph, set, op);
    if (!module) return std::nullopt;
    modules.insert(*module);
  }
  std::vector<std::string> outer;
  for (const std::string& module : modules) {
    if (outer.empty() || !is_under(module, outer.back())) outer.push_back(module);
  }
  return outer;
}

Expected<Cut> cut_behind(const Graph& graph, const std::vector<SplitPoint>& points,
                         const std::vector<std::string>& modules, std::string_view name) {
  PARETO_ASSIGN(const auto operators,
                with_context(operators_of_modules(graph, modules), "\"{}\"", name));
  return with_context(checked_cut(graph, points, closed(graph, operators)), "no cut at \"{}\"",
                      name);
}

}  // namespace

Cut cut_at(const SplitPoint& point) { return {point.name, {{0, point.position}}}; }

std::vector<Cut> cuts_at(const std::vector<SplitPoint>& points,
                         const std::vector<std::size_t>& chosen) {
  std::vector<Cut> cuts;
  for (const std::size_t index : chosen) cuts.push_back(cut_at(points[index]));
  return cuts;
}

bool is_position(const plan::OperatorRanges& before) {
  return before.size() == 1 && before.front().begin == 0;
}

bool is_name_of_set(std::string_view name) {
  if (name.starts_with(kOnly)) return true;
  if (name.starts_with(kAfter)) return name.find('+') != std::string_view::npos;
  return name.starts_with(kOperators) &&
         name.find_first_of(":-", kOperators.size()) != std::string_view::npos;
}

bool holds_all(const plan::OperatorRanges& set, const plan::OperatorRanges& part) {
  return std::ranges::all_of(part, [&](const plan::OperatorRange& range) {
    const auto after = std::ranges::upper_bound(set, range.begin, {}, &plan::OperatorRange::begin);
    return after != set.begin() && range.end <= (after - 1)->end;
  });
}

plan::OperatorRanges closed(const Graph& graph, const std::vector<std::int64_t>& operators) {
  const auto needed = needed_by_each(graph);
  std::vector<bool> taken(graph.operators.size(), false);
  std::vector<std::int64_t> next = operators;
  while (!next.empty()) {
    const auto op = static_cast<std::size_t>(next.back());
    next.pop_back();
    if (taken[op]) continue;
    taken[op] = true;
    next.insert(next.end(), needed[op].begin(), needed[op].end());
  }
  std::vector<std::int64_t> all;
  for (std::size_t op = 0; op < taken.size(); ++op) {
    if (taken[op]) all.push_back(static_cast<std::int64_t>(op));
  }
  return plan::ranges_of(all);
}

Expected<std::vector<std::int64_t>> operators_of_modules(const Graph& graph,
                                                         const std::vector<std::string>& modules) {
  std::vector<std::int64_t> found;
  for (const std::string& module : modules) {
    const std::size_t before = found.size();
    for (std::int64_t op = 0; op < operators_of(graph); ++op) {
      if (is_under(graph.operators[static_cast<std::size_t>(op)].scope, module)) {
        found.push_back(op);
      }
    }
    if (found.size() > before) continue;
    std::set<std::string> paths;
    for (const Operator& op : graph.operators) {
      for (std::string& path : path_prefixes(op.scope)) paths.insert(std::move(path));
    }
    const std::vector<std::string> known(paths.begin(), paths.end());
    return fail(ErrorCode::kNotFound, "the model has no module \"{}\"{}", module,
                did_you_mean(module, known));
  }
  return found;
}

Expected<Cut> checked_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                          plan::OperatorRanges before) {
  if (before.empty()) {
    return fail(ErrorCode::kInvalidArgument, "no operator lies before it: the source sends inputs");
  }
  if (plan::count_of(before) == operators_of(graph)) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing lies behind it: the set holds all {} operators", graph.operators.size());
  }
  if (!is_position(before) || before.front().end > static_cast<std::int64_t>(points.size())) {
    PARETO_TRY(check_cut(graph, before));
  } else if (const SplitPoint& point = points[static_cast<std::size_t>(before.front().end - 1)];
             !point.legal) {
    return fail(ErrorCode::kInvalidArgument, "{}", point.reason);
  }
  std::string name = name_of_cut(graph, points, before);
  return Cut{std::move(name), std::move(before)};
}

Expected<Cut> find_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                       std::string_view name) {
  if (name.starts_with(kOnly)) {
    return cut_behind(graph, points, split_list(name.substr(kOnly.size()), '+'), name);
  }
  if (is_name_of_set(name) && name.starts_with(kAfter)) {
    return cut_behind(graph, points, split_list(name.substr(kAfter.size()), '+'), name);
  }
  if (is_name_of_set(name)) {
    PARETO_ASSIGN(plan::OperatorRanges ranges, ranges_named(name));
    return with_context(checked_cut(graph, points, std::move(ranges)), "no cut at \"{}\"", name);
  }
  PARETO_ASSIGN(const auto chosen, select_split_points(points, name));
  if (chosen.size() == 1) return cut_at(points[chosen.front()]);
  return fail(ErrorCode::kInvalidArgument, "\"{}\" is {} split points, not one", name,
              chosen.size());
}

std::string name_of_cut(const Graph& graph, const std::vector<SplitPoint>& points,
                        const plan::OperatorRanges& before) {
  if (is_position(before) && before.front().end <= static_cast<std::int64_t>(points.size())) {
    return points[static_cast<std::size_t>(before.front().end - 1)].name;
  }
  const auto modules = last_modules(graph, before);
  if (!modules || modules->size() > kMostNamedModules) return cut_name(before);
  const std::string_view word = modules->size() == 1 ? kOnly : kAfter;
  return fmt::format("{}{}", word, fmt::join(*modules, "+"));
}

std::vector<std::string> split_cut_names(std::string_view text) {
  const auto begins_name = [](std::string_view part) {
    return part.find(':') != std::string_view::npos || part == "all" || part == "modules" ||
           part == "auto" || part == "frontiers" || part == "none";
  };
  std::vector<std::string> names;
  for (const std::string& part : split_list(text)) {
    bool is_first = true;
    for (std::string& piece : split_list(part, '+')) {
      const bool is_new = is_first || begins_name(piece);
      is_first = false;
      if (is_new) {
        names.push_back(std::move(piece));
      } else {
        names.back() += "+" + piece;
      }
    }
  }
  return names;
}

}  // namespace pareto::model
