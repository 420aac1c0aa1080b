#include <nlohmann/json.hpp>
#include <utility>

#include "client/report/assets.h"
#include "client/report/graph/picture_svg.h"
#include "client/report/graph/picture_writer.h"
#include "client/report/html_text.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/short_count.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"

namespace pareto::report::graph {
namespace {

using PageJson = nlohmann::ordered_json;

PageJson ranges_json(const plan::OperatorRanges& ranges) {
  PageJson list = PageJson::array();
  for (const plan::OperatorRange& range : ranges) list.push_back({range.begin, range.end});
  return list;
}

/// Returns an array for each card: graph.js names what stands where.
PageJson node_json(const PictureNode& node) {
  PageJson weights = PageJson::array();
  for (const WeightRow& row : node.weights) {
    weights.push_back({printable(row.name), row.shape, row.bytes, static_cast<int>(row.kind)});
  }
  PageJson makes = PageJson::array();
  for (const std::string& value : node.makes) makes.push_back(printable(value));
  return {{"title", printable(node.title)},
          {"path", printable(node.path)},
          {"kind", static_cast<int>(node.kind)},
          {"contents", node.contents},
          {"operators", ranges_json(plan::ranges_of(node.operators))},
          {"makes", std::move(makes)},
          {"heat", {0, node.time_ms, node.flops, node.activation_bytes, node.parameters()}},
          {"weights", std::move(weights)}};
}

PageJson data_of(const GraphPicture& picture, const PictureLayout& layout, Heat heat,
                 const CandidateTable& candidates) {
  PageJson nodes = PageJson::array();
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    PageJson node = node_json(picture.nodes[i]);
    const Box& box = layout.nodes[i];
    node["box"] = {box.left, box.top, box.width, box.height};
    nodes.push_back(std::move(node));
  }
  PageJson clusters = PageJson::array();
  for (std::size_t i = 0; i < picture.clusters.size(); ++i) {
    const Box& box = layout.clusters[i];
    clusters.push_back({{"path", printable(picture.clusters[i].path)},
                        {"depth", picture.clusters[i].depth},
                        {"box", {box.left, box.top, box.width, box.height}}});
  }
  PageJson edges = PageJson::array();
  for (const PictureEdge& edge : picture.edges) {
    edges.push_back({edge.from, edge.to, printable(edge.values), edge.bytes});
  }
  PageJson shown = PageJson::array();
  for (const PictureCut& cut : picture.options.cuts) {
    shown.push_back({{"name", printable(cut.name)}, {"before", ranges_json(cut.before)}});
  }
  PageJson offered = PageJson::array();
  for (const CutCandidate& one : candidates.candidates) {
    PageJson crosses = PageJson::array();
    for (const std::string& value : one.crosses) crosses.push_back(printable(value));
    offered.push_back({{"name", printable(one.cut.name)},
                       {"before", ranges_json(one.cut.before)},
                       {"crosses", std::move(crosses)}});
  }
  PageJson heats = PageJson::array();
  for (const std::string& name : heat_names()) {
    const Heat one = parse_heat(name).value_or(Heat::kNone);
    const bool is_known = one != Heat::kTime || !picture.options.times_ms.empty();
    heats.push_back(is_known ? PageJson(printable(heat_title(one, picture.options))) : PageJson());
  }
  return {{"width", layout.width},           {"height", layout.height},
          {"batch", picture.options.batch},  {"heat", static_cast<int>(heat)},
          {"heats", std::move(heats)},       {"nodes", std::move(nodes)},
          {"clusters", std::move(clusters)}, {"edges", std::move(edges)},
          {"shown", std::move(shown)},       {"cuts", std::move(offered)}};
}

/// Returns colours of stages and of families, as the drawing's classes have them.
std::string colours_css() {
  std::string css;
  for (int i = 0; i < kFamilies; ++i) {
    css += fmt::format(".f{}{{--own:{}}}\n", i, family_colour(i));
  }
  for (std::size_t i = 0; i < 10; ++i) {
    css += fmt::format(".s{}{{--own:{}}}\n", i, schedule::strong_colour(i));
  }
  return css;
}

/// Returns the chips of the families of operators that the picture holds.
std::string families_html(const GraphPicture& picture) {
  std::string html;
  for (const int family : families_in(picture)) {
    html += fmt::format("<span><i class=\"swatch f{}\"></i>{}</span>", family, family_name(family));
  }
  return html;
}

}  // namespace

Expected<std::string> picture_page(const GraphPicture& picture, const PictureLayout& layout,
                                   Heat heat, const CandidateTable& candidates) {
  double flops = 0;
  std::int64_t parameters = 0;
  for (const PictureNode& node : picture.nodes) {
    flops += node.flops;
    parameters += node.parameters();
  }
  const std::string subtitle = fmt::format(
      "{} · batch {} · {} parameters · {} FLOPs", counted(picture.operators, "operator"),
      picture.options.batch, short_count(static_cast<double>(parameters)), short_count(flops));
  const std::string title = html_escaped(printable(picture.model));
  // The page colours cards itself, so that another heat is a click away.
  const std::string scene = svg_scene(picture, layout, Heat::kNone);
  const std::string table = cells_html(candidates.cells, "cuts-title");
  const std::string data =
      replaced(dump(data_of(picture, layout, heat, candidates)), "<", "\\u003c");
  const std::string colours = colours_css();
  const std::string families = families_html(picture);
  return filled(report_graph_html(), {{"title", title},
                                      {"css", report_css()},
                                      {"graph_css", report_graph_css()},
                                      {"colours", colours},
                                      {"subtitle", subtitle},
                                      {"families", families},
                                      {"scene", scene},
                                      {"table", table},
                                      {"data", data},
                                      {"scripts", report_graph_scripts()}});
}

}  // namespace pareto::report::graph
