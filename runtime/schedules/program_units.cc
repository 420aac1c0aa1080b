#include "runtime/schedules/program_units.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "runtime/schedules/assignment.h"
#include "runtime/schedules/rule_matches.h"

namespace pareto::schedules {
namespace {

constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

/// Operators that stay together. At first a match of a rule, or one operator to be joined.
struct Group {
  std::size_t rule = kNoRule;
  bool joins = false;  ///< it may become a part of a larger group of the same rule
  std::vector<std::size_t> operators{};
  std::string name{};
};

/// Returns whether an operator only fetches a weight or a constant. If no rule marks it, it has no
/// group until add_fetches().
bool only_fetches(const WeightedNode& node) {
  return node.after.empty() && (node.kind == "prim::GetAttr" || node.kind == "prim::Constant");
}

/// Returns the group of each operator; kNoPlace for those in none.
std::vector<std::size_t> places_of(const std::vector<Group>& groups, const WeightedGraph& graph) {
  std::vector<std::size_t> places(graph.nodes.size(), kNoPlace);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::size_t op : groups[group].operators) places[op] = group;
  }
  return places;
}

/// Puts operators that are in no group into that of their users, or into one of their own if there
/// are several.
void add_fetches(const WeightedGraph& graph, std::vector<Group>& groups) {
  const auto users = users_of(graph);
  const std::vector<std::size_t> places = places_of(groups, graph);
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    if (places[op] != kNoPlace) continue;
    const std::size_t group = users[op].empty() ? kNoPlace : places[users[op].front()];
    const auto is_there = [&](std::size_t user) { return places[user] == group; };
    if (group != kNoPlace && std::ranges::all_of(users[op], is_there)) {
      groups[group].operators.push_back(op);
    } else {
      groups.push_back({kNoRule, true, {op}, {}});
    }
  }
  for (Group& group : groups) std::ranges::sort(group.operators);
}

using Needs = std::vector<std::vector<std::size_t>>;

/// Returns the groups that each group waits for, ascending.
Needs needs_of(const std::vector<Group>& groups, const WeightedGraph& graph) {
  const std::vector<std::size_t> group_of = places_of(groups, graph);
  Needs needs(groups.size());
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    for (const std::size_t before : graph.nodes[op].after) {
      if (group_of[before] == group_of[op] || group_of[before] == kNoPlace) continue;
      needs[group_of[op]].push_back(group_of[before]);
    }
  }
  for (auto& list : needs) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return needs;
}

/// Returns the groups in an order in which each waits only for those before it, otherwise as their
/// first operators stand in the graph. Groups that wait for each other are left out.
std::vector<std::size_t> order_of(const std::vector<Group>& groups, const Needs& needs) {
  Needs users(groups.size());
  std::vector<std::size_t> missing(groups.size());
  using Next = std::pair<std::size_t, std::size_t>;  // first operator, group
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    missing[group] = needs[group].size();
    for (const std::size_t before : needs[group]) users[before].push_back(group);
    if (missing[group] == 0) ready.emplace(groups[group].operators.front(), group);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t group = ready.top().second;
    ready.pop();
    order.push_back(group);
    for (const std::size_t user : users[group]) {
      if (--missing[user] == 0) ready.emplace(groups[user].operators.front(), user);
    }
  }
  return order;
}

/// Fails with groups that wait for each other, and the operators concerned.
Expected<> refuse_circle(std::vector<Group> groups, const WeightedGraph& graph) {
  add_fetches(graph, groups);
  Timetable timetable{.phases = {{.workers = {{}}}}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string name = groups[i].rule == kNoRule ? "marked by no rule" : groups[i].name;
    timetable.units.push_back({.operators = groups[i].operators, .name = name});
    timetable.phases[0].workers[0].push_back({i, 0});
  }
  const auto checked = check(timetable, graph);
  return fail(ErrorCode::kInvalidArgument, "{}: mark what lies between as well, or less",
              checked ? "units wait for each other" : checked.error().message);
}

/// Joins groups of one rule that follow each other.
///
/// Each group has a level: the most changes of rule, into a group that joins, on the ways to it.
/// Levels never fall along a way, and a way that leaves a rule's groups comes back at a higher one.
/// So groups of one rule and level do not wait for each other through others.
class Joiner {
 public:
  Joiner(const std::vector<Group>& groups, const Needs& needs,
         const std::vector<std::size_t>& order)
      : groups_(groups), parents_(groups.size()) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    std::vector<std::size_t> levels(groups.size());
    for (const std::size_t group : order) {
      for (const std::size_t before : needs[group]) {
        const bool enters = groups[group].joins && !same_rule(group, before);
        levels[group] = std::max(levels[group], levels[before] + (enters ? 1 : 0));
      }
      for (const std::size_t before : needs[group]) {
        if (same_rule(group, before) && levels[group] == levels[before]) {
          parents_[root(before)] = root(group);
        }
      }
    }
  }

  std::vector<Group> joined() {
    std::vector<Group> result;
    std::vector<std::size_t> places(groups_.size(), kNoPlace);  // in the result, by root
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      std::size_t& place = places[root(group)];
      if (place == kNoPlace) {
        place = result.size();
        result.push_back(groups_[group]);
      } else {
        auto& operators = result[place].operators;
        operators.insert(operators.end(), groups_[group].operators.begin(),
                         groups_[group].operators.end());
      }
    }
    return result;
  }

 private:
  /// Returns whether both are groups that join, of one rule.
  bool same_rule(std::size_t a, std::size_t b) const {
    return groups_[a].joins && groups_[b].joins && groups_[a].rule == groups_[b].rule;
  }

  std::size_t root(std::size_t group) {
    while (parents_[group] != group) group = parents_[group] = parents_[parents_[group]];
    return group;
  }

  const std::vector<Group>& groups_;
  std::vector<std::size_t> parents_;
};

Expected<std::vector<Group>> groups_of(const Program& program, const WeightedGraph& graph,
                                       bool partial) {
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(graph.nodes.size(), kNoPlace);
  for (std::size_t i = 0; i < program.units.size(); ++i) {
    const UnitRule& rule = program.units[i];
    std::vector<Match> matches = find_matches(rule, graph);
    if (matches.empty() && !partial) {
      return fail(ErrorCode::kInvalidArgument, "{} marks nothing: {}", rule_name(program, i),
                  why_no_match(rule, graph));
    }
    for (Match& match : matches) {
      for (const std::size_t op : match.operators) {
        if (group_of[op] != kNoPlace) {
          return fail(ErrorCode::kInvalidArgument,
                      "{} and {} both mark {}: leave it out of one, by modules, operators or "
                      "except",
                      rule_name(program, groups[group_of[op]].rule), rule_name(program, i),
                      operator_name(graph, op));
        }
        group_of[op] = groups.size();
      }
      groups.push_back({i, rule.join, std::move(match.operators), std::move(match.name)});
    }
  }
  for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
    if (group_of[op] != kNoPlace || only_fetches(graph.nodes[op])) continue;
    groups.push_back({kNoRule, true, {op}, {}});
  }
  return groups;
}

}  // namespace

std::string rule_name(const Program& program, std::size_t rule) {
  const std::string& name = program.units[rule].name;
  return name.empty() ? fmt::format("units[{}]", rule) : fmt::format("units[{}] ({})", rule, name);
}

Expected<MarkedUnits> mark_units(const Program& program, const WeightedGraph& graph, bool partial) {
  PARETO_ASSIGN(std::vector<Group> groups, groups_of(program, graph, partial));
  const Needs needs = needs_of(groups, graph);
  const std::vector<std::size_t> order = order_of(groups, needs);
  if (order.size() < groups.size()) {
    PARETO_TRY(refuse_circle(groups, graph));
  }
  groups = Joiner(groups, needs, order).joined();
  add_fetches(graph, groups);
  MarkedUnits marked;
  for (const std::size_t i : order_of(groups, needs_of(groups, graph))) {
    Group& group = groups[i];
    Unit& unit = marked.units.emplace_back();
    unit.name = std::move(group.name);
    if (group.joins) {
      unit.name = name_unit(
          graph, group.operators,
          fmt::format("operators {} to {}", group.operators.front(), group.operators.back()));
    }
    unit.operators = std::move(group.operators);
    if (group.rule == kNoRule) {
      unit.tags = {kOtherTag};
    } else {
      unit.tags = program.units[group.rule].tags;
    }
    marked.rule_of.push_back(group.rule);
  }
  return marked;
}

}  // namespace pareto::schedules
