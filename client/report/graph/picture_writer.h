// Writes pictures of models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/report/browser.h"
#include "client/report/cell_table.h"
#include "client/report/graph/card.h"
#include "client/report/graph/graph_picture.h"
#include "client/report/graph/picture_layout.h"
#include "core/base/error.h"

namespace pareto::report::graph {

/// Colour of what crosses a cut.
inline constexpr std::string_view kBoundaryColour = "#c2362b";

/// Returns "layer1 · 148 K parameters · 926 M FLOPs".
std::string cluster_title(const PictureCluster& cluster);

/// Writes the picture for Graphviz, with all texts and colours. It needs no layout.
std::string picture_dot(const GraphPicture& picture, Heat heat);
/// Writes what Graphviz needs to lay out our own drawing: sizes and edges.
std::string layout_dot(const GraphPicture& picture, Heat heat);

/// Draws the picture, with a title and a legend.
std::string picture_svg(const GraphPicture& picture, const PictureLayout& layout, Heat heat);

/// The largest PNG that is drawn, in pixels a side: browsers draw no larger ones.
inline constexpr int kMostPixels = 16'000;

/// Returns the bytes of the picture as PNG, and writes to `scale` how many pixels a unit of length
/// has: 2, or fewer if it is too large. Fails: as run_browser does.
Expected<std::string> picture_png(const std::string& svg, const Browser& browser, double& scale);

/// A cut that a page offers to show.
struct CutCandidate {
  PictureCut cut;
  std::vector<std::string> crosses;  ///< values that cross it, as they describe themselves
};

/// Candidates and their figures, a row each.
struct CandidateTable {
  std::vector<CutCandidate> candidates;
  CellTable cells;
};

/// Returns one offline page: the picture, to be zoomed, moved and searched, and the candidates next
/// to it. Fails: kInternal.
Expected<std::string> picture_page(const GraphPicture& picture, const PictureLayout& layout,
                                   Heat heat, const CandidateTable& candidates);

}  // namespace pareto::report::graph
