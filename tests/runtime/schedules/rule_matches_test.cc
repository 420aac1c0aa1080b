#include "runtime/schedules/rule_matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "runtime/schedules/patterns.h"

namespace pareto::schedules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Operators = std::vector<std::size_t>;

WeightedNode node_of(std::string kind, std::string scope, Operators after = {}) {
  return {.kind = std::move(kind), .scope = std::move(scope), .after = std::move(after)};
}

/// 0 conv ─▶ 1 relu ─▶ 2 conv ─▶ 3 relu ─▶ 4 pool ─▶ 5 linear; 5 has no module.
WeightedGraph stem_and_block() {
  return {{node_of("aten::conv2d", "stem.conv"), node_of("aten::relu", "stem.act", {0}),
           node_of("aten::conv2d", "block.1.conv", {1}), node_of("aten::relu", "block.1.act", {2}),
           node_of("aten::max_pool2d", "block.2", {3}), node_of("aten::linear", "", {4})}};
}

std::vector<Operators> found_by(const UnitRule& rule,
                                const WeightedGraph& graph = stem_and_block()) {
  std::vector<Operators> found;
  for (Match& match : find_matches(rule, graph)) found.push_back(std::move(match.operators));
  return found;
}

TEST(FindMatches, EachModuleIsAUnit) {
  EXPECT_THAT(found_by({.modules = {"stem", "block.*"}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT(found_by({.modules = {"block.*", "block"}}), ElementsAre(ElementsAre(2, 3, 4)))
      << "the outermost one counts";
  EXPECT_THAT(found_by({.modules = {"**"}}), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 4)))
      << "an operator of no module is in none";
  const auto matches = find_matches({.modules = {"*.1"}}, stem_and_block());
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].name, "block.1");
}

TEST(FindMatches, EachOperatorOfAKindIsAUnit) {
  EXPECT_THAT(found_by({.operators = {"conv2d"}}), ElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_THAT(found_by({.modules = {"block"}, .operators = {"*"}}),
              ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(4)));
  EXPECT_THAT(found_by({.operators = {"linear", "prim::*"}}), ElementsAre(ElementsAre(5)));
  const auto matches = find_matches({.operators = {"linear", "*pool*"}}, stem_and_block());
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].name, "block.2 max_pool2d");
  EXPECT_EQ(matches[1].name, "linear");
}

TEST(FindMatches, ExceptLeavesOut) {
  EXPECT_THAT(found_by({.modules = {"**"}, .except = {"stem", "block.1.act"}}),
              ElementsAre(ElementsAre(2, 4)));
  EXPECT_THAT(found_by({.except = {"**"}, .operators = {"*"}}), ElementsAre(ElementsAre(5)));
}

TEST(FindMatches, JoinGivesEachOperatorToBeJoined) {
  EXPECT_THAT(found_by({.modules = {"block"}, .join = true}),
              ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(4)));
}

TEST(FindMatches, ASequenceIsAChainOfReaders) {
  EXPECT_THAT(found_by({.sequence = {"conv2d", "relu"}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(found_by({.sequence = {"relu", "*"}}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(found_by({.modules = {"block"}, .sequence = {"relu", "*"}}),
              ElementsAre(ElementsAre(3, 4)));
  EXPECT_THAT(found_by({.sequence = {"relu", "conv2d", "relu", "linear"}}), IsEmpty());
  EXPECT_EQ(find_matches({.sequence = {"conv2d", "relu"}}, stem_and_block())[0].name,
            "stem.conv conv2d+relu");
}

/// Returns whether operators that are not taken form a chain from one on, by trying all.
bool has_chain(const WeightedGraph& graph, const std::vector<std::string>& sequence,
               const std::set<std::size_t>& taken, std::size_t op, std::size_t place) {
  if (taken.contains(op) || !fits_kind(graph.nodes[op].kind, sequence[place])) return false;
  if (place + 1 == sequence.size()) return true;
  const auto users = users_of(graph);
  for (const std::size_t user : users[op]) {
    if (has_chain(graph, sequence, taken, user, place + 1)) return true;
  }
  return false;
}

TEST(FindMatches, ChainsAreApartAndNoneIsLeft) {
  std::mt19937 random(51);
  std::size_t chains = 0;
  for (int round = 0; round < 200; ++round) {
    WeightedGraph graph;
    for (std::size_t i = 0; i < 14; ++i) {
      Operators after;
      for (std::size_t k = i < 4 ? 0 : i - 4; k < i; ++k) {
        if (random() % 3 == 0) after.push_back(k);
      }
      graph.nodes.push_back(node_of(std::string("t::") + "abc"[random() % 3], "", after));
    }
    std::vector<std::string> sequence(1 + random() % 4);
    for (std::string& kind : sequence) kind = std::vector{"a", "b", "?"}[random() % 3];
    std::set<std::size_t> taken;
    for (const Match& match : find_matches({.sequence = sequence}, graph)) {
      ASSERT_EQ(match.operators.size(), sequence.size());
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        const std::size_t op = match.operators[i];
        EXPECT_TRUE(taken.insert(op).second) << "two chains have an operator";
        EXPECT_TRUE(fits_kind(graph.nodes[op].kind, sequence[i]));
        const auto& after = graph.nodes[op].after;
        const bool reads =
            i == 0 || std::ranges::find(after, match.operators[i - 1]) != after.end();
        EXPECT_TRUE(reads) << "no chain";
      }
      ++chains;
    }
    for (std::size_t op = 0; op < graph.nodes.size(); ++op) {
      EXPECT_FALSE(has_chain(graph, sequence, taken, op, 0)) << "a chain was left";
    }
  }
  EXPECT_GT(chains, 200U);
}

TEST(FindMatches, ALadderOfManyWaysIsQuick) {
  WeightedGraph graph;
  graph.nodes.push_back(node_of("t::a", ""));
  graph.nodes.push_back(node_of("t::a", ""));
  for (std::size_t i = 2; i < 120; i += 2) {
    graph.nodes.push_back(node_of("t::a", "", {i - 2, i - 1}));
    graph.nodes.push_back(node_of("t::a", "", {i - 2, i - 1}));
  }
  std::vector<std::string> sequence(59, "a");
  sequence.push_back("b");
  EXPECT_THAT(found_by({.sequence = sequence}, graph), IsEmpty());
}

TEST(WhyNoMatch, SaysTheModuleTheKindOrTheOrder) {
  const auto why = [](const UnitRule& rule) { return why_no_match(rule, stem_and_block()); };
  EXPECT_EQ(why({.modules = {"blok"}}),
            "no module fits \"blok\" (did you mean block, block.1 or block.2?)");
  EXPECT_THAT(why({.modules = {"stem"}, .except = {"stem.*"}}),
              HasSubstr("no module fits \"stem\", without those of except"));
  EXPECT_THAT(why({.operators = {"conv3d"}}),
              HasSubstr("no operator is of the kind \"conv3d\" (did you mean conv2d?)"));
  EXPECT_THAT(why({.modules = {"stem"}, .operators = {"linear"}}),
              HasSubstr("no operator of these modules is of the kind \"linear\""));
  EXPECT_THAT(why({.sequence = {"linear", "relu"}}),
              HasSubstr("no operators of the kinds \"linear\", \"relu\" read one another"));
}

TEST(WhyNoMatch, ShortensLongAndManyPatterns) {
  const std::string why = why_no_match(
      {.modules = {std::string(200, 'x'), "b\n", "c", "d", "e", "f"}}, stem_and_block());
  EXPECT_THAT(why, HasSubstr("…"));
  EXPECT_THAT(why, HasSubstr("and 2 more"));
  EXPECT_LT(why.size(), 400U);
}

}  // namespace
}  // namespace pareto::schedules
