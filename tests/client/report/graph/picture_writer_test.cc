#include "client/report/graph/picture_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/report/graph/picture_svg.h"
#include "core/base/file.h"
#include "tests/client/report/graph/toy_model.h"
#include "tests/support/process.h"

namespace pareto::report::graph {
namespace {

using test::two_branches;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNasty = "a<b>&\"c\\ {{x}} </script>";

GraphPicture operators_of(const model::Graph& graph, GraphPictureOptions options = {}) {
  options.view = PictureView::kOperators;
  return picture_of(graph, options).value();
}

GraphPicture cut_picture() {
  GraphPictureOptions options;
  options.cuts = {{"after:right", {{0, 2}, {3, 5}}}};
  return operators_of(two_branches(), options);
}

/// Lays it out by Graphviz, which tests install.
PictureLayout laid_out(const GraphPicture& picture) {
  const auto layout = lay_out(picture, Heat::kNone, {});
  EXPECT_TRUE(layout) << layout.error().message;
  return layout.value_or(PictureLayout{});
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height &&
         b.top < a.top + a.height;
}

bool holds(const Box& outer, const Box& inner) {
  // Graphviz rounds to whole points.
  return outer.left <= inner.left + 1 && outer.top <= inner.top + 1 &&
         inner.left + inner.width <= outer.left + outer.width + 1 &&
         inner.top + inner.height <= outer.top + outer.height + 1;
}

TEST(PictureLayout, PutsCardsApartAndInTheirClusters) {
  const GraphPicture picture = cut_picture();
  const PictureLayout layout = laid_out(picture);
  ASSERT_EQ(layout.nodes.size(), picture.nodes.size());
  ASSERT_EQ(layout.clusters.size(), 2U);
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    EXPECT_TRUE(holds({0, 0, layout.width, layout.height}, layout.nodes[i])) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(layout.nodes[i], layout.nodes[j]));
    const std::size_t cluster = picture.nodes[i].cluster;
    for (std::size_t k = 0; k < layout.clusters.size(); ++k) {
      EXPECT_EQ(holds(layout.clusters[k], layout.nodes[i]), cluster == k + 1) << i << " in " << k;
    }
  }
  for (std::size_t i = 0; i < picture.edges.size(); ++i) {
    const Box& from = layout.nodes[picture.edges[i].from];
    const Box& to = layout.nodes[picture.edges[i].to];
    EXPECT_LT(from.top, to.top) << "what is made stands above its reader";
    const Place tip = layout.edges[i].back();
    EXPECT_NEAR(tip.y, to.top, 3) << "the arrow ends at its reader's card";
    EXPECT_GE(tip.x, to.left - 1);
    EXPECT_LE(tip.x, to.left + to.width + 1);
  }
}

TEST(PictureLayout, CardsHaveRoomForTheirLines) {
  const GraphPicture picture = cut_picture();
  const PictureLayout layout = laid_out(picture);
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const Card card = card_of(picture.nodes[i], Heat::kNone);
    EXPECT_NEAR(layout.nodes[i].width, card.width, 1);
    EXPECT_NEAR(layout.nodes[i].height, card.height, 1);
  }
}

TEST(PictureLayout, RefusesAnswersOfOtherPictures) {
  const GraphPicture picture = cut_picture();
  for (
      const char* answer :
      {"", "[]", "{}", R"({"bb": "0,0,5"})", R"({"bb": "0,0,9,9", "objects": []})",
       R"({"bb": "0,0,9,9", "objects": [{"name": "n77", "pos": "1,1", "width": "1", "height": "1"}]})",
       R"({"bb": "0,0,9,9", "objects": [{"name": "cluster_9", "bb": "0,0,1,1"}]})",
       R"({"bb": "0,0,9,9", "objects": [{"name": "n1", "pos": "1", "width": "1", "height": "1"}]})",
       R"({"bb": "0,0,9,9", "objects": [{"name": "n1", "pos": "1,1", "width": "x", "height": "1"}]})",
       R"({"bb": "0,0,9,1e300", "objects": []})",
       R"({"bb": "0,0,9,9", "objects": [], "edges": [{"id": "99", "pos": "1,1 2,2 3,3 4,4"}]})",
       R"({"bb": "0,0,9,9", "objects": [], "edges": [{"id": "1", "pos": "1,1 2,2"}]})"}) {
    const auto layout = layout_from_json(picture, answer);
    ASSERT_FALSE(layout) << answer;
    EXPECT_EQ(layout.error().code, ErrorCode::kCorrupt) << answer;
    EXPECT_THAT(layout.error().message, HasSubstr("no layout of this picture"));
  }
}

TEST(PictureLayout, SaysWhatToInstallWithoutGraphviz) {
  const auto layout = lay_out(cut_picture(), Heat::kNone, {.program = "no-such-program"});
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(layout.error().message, AllOf(HasSubstr("apt install graphviz"),
                                            HasSubstr("--format dot, which does without")));
}

TEST(PictureDot, IsWhatGraphvizReads) {
  const auto folder = TemporaryFolder::create("picture").value();
  const auto file = folder.path() / "model.dot";
  for (const GraphPicture& picture : {cut_picture(), operators_of(two_branches(kNasty))}) {
    ASSERT_TRUE(write_file_atomically(file, picture_dot(picture, Heat::kFlops)));
    const auto done = test::run({"/usr/bin/dot", "-Tsvg", file.string()});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(done.errors, "");
    EXPECT_THAT(done.output, AllOf(HasSubstr("batch_norm"), HasSubstr("running_mean")));
  }
  EXPECT_THAT(picture_dot(cut_picture(), Heat::kNone),
              AllOf(HasSubstr(std::string(kBoundaryColour)), HasSubstr("Bx4x8x8, 1.00 KiB")));
}

TEST(PictureSvg, ShowsCardsCutAndLegend) {
  const GraphPicture picture = cut_picture();
  const std::string svg = picture_svg(picture, laid_out(picture), Heat::kNone);
  EXPECT_THAT(svg, AllOf(HasSubstr("before after:right"), HasSubstr("behind after:right"),
                         HasSubstr("class=\"edge crosses\""), HasSubstr("Bx4x8x8 · 1.00 KiB"),
                         HasSubstr("8 operators · batch 1"), HasSubstr("trainable"),
                         HasSubstr("class=\"card s0 boundary\"")));
  EXPECT_THAT(svg, Not(HasSubstr("convolution</text>"))) << "colours are of stages";
}

TEST(PictureSvg, NamesAValueThatCrossesToTwoCardsOnceBelowItsCard) {
  GraphPictureOptions options;
  options.cuts = {{"after:stem", {{0, 2}}}};
  const GraphPicture picture = operators_of(two_branches(), options);
  ASSERT_EQ(std::ranges::count_if(picture.edges, &PictureEdge::crosses), 2);
  const PictureLayout layout = laid_out(picture);
  const std::string svg = picture_svg(picture, layout, Heat::kNone);
  const std::size_t at = svg.find("class=\"et\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(svg.find("class=\"et\"", at + 1), std::string::npos);
  const auto edge = std::ranges::find_if(picture.edges, &PictureEdge::crosses);
  const Box& card = layout.nodes[edge->from];
  const double y = std::stod(svg.substr(svg.rfind("y=\"", at) + 3));
  EXPECT_GT(y, card.top + card.height);
}

TEST(PictureSvg, HotterCardsAreDarker) {
  EXPECT_EQ(heat_colour(0), "#ffffff");
  EXPECT_NE(heat_colour(1), heat_colour(0.5));
  EXPECT_EQ(heat_share(0, 0), 0);
  EXPECT_EQ(heat_share(4, 4), 1);
  EXPECT_EQ(heat_share(1, 4), 0.5) << "the root";
  const GraphPicture picture = operators_of(two_branches());
  const std::string svg = picture_svg(picture, laid_out(picture), Heat::kFlops);
  EXPECT_THAT(svg, AllOf(HasSubstr("fill=\"" + heat_colour(1) + "\""),
                         HasSubstr("FLOPs of one sample, up to 5 K")));
}

TEST(PictureSvg, NamesAreText) {
  const GraphPicture picture = operators_of(two_branches(kNasty));
  EXPECT_THAT(picture_svg(picture, laid_out(picture), Heat::kNone),
              AllOf(Not(HasSubstr("a<b>")), HasSubstr("a&lt;b>&amp;&quot;c")));
}

TEST(PicturePage, HoldsCandidatesAndAllFigures) {
  const GraphPicture picture = operators_of(two_branches(kNasty));
  CandidateTable table;
  table.cells.columns = {{"cut"}};
  table.cells.rows = {{.cells = {kNasty}}};
  table.candidates = {{{kNasty, {{0, 2}}}, {kNasty}}};
  const auto page = picture_page(picture, laid_out(picture), Heat::kNone, table);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, Not(HasSubstr("a<b>")));
  const std::string_view open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page->find(open) + open.size();
  const auto data =
      nlohmann::json::parse(page->substr(begin, page->find("</script>", begin) - begin));
  EXPECT_EQ(data["nodes"].size(), picture.nodes.size());
  EXPECT_EQ(data["edges"].size(), picture.edges.size());
  EXPECT_EQ(data["cuts"][0]["name"], kNasty);
  EXPECT_EQ(data["cuts"][0]["before"], nlohmann::json::parse("[[0, 2]]"));
  EXPECT_TRUE(data["heats"][1].is_null()) << "no times are known";
  EXPECT_EQ(data["nodes"][1]["heat"][2], 5000);
}

TEST(Cards, AreCutWhereNamesAreLong) {
  test::ToyModel toy("long");
  const std::string name(500, 'w');
  const std::int64_t x = toy.input(test::tensor_spec({1}));
  const auto picture =
      operators_of(toy.returning(toy.add("aten::" + name, name, {x}, test::tensor_spec({1}))));
  const Card card = card_of(picture.nodes[1], Heat::kNone);
  EXPECT_LT(card.width, 600);
  EXPECT_THAT(card.lines[0].text, HasSubstr("…"));
  EXPECT_EQ(shortened("äöü", 4), "ä…") << "whole characters";
}

TEST(Cards, NumbersAreOneLine) {
  const auto picture = operators_of(two_branches());
  EXPECT_TRUE(card_of(picture.nodes[6], Heat::kNone).is_pill);
  EXPECT_FALSE(card_of(picture.nodes[7], Heat::kNone).is_pill);
}

}  // namespace
}  // namespace pareto::report::graph
