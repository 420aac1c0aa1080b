// Places of cards, clusters and edges, found by Graphviz.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "client/report/graph/graph_picture.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::report::graph {

/// The program `dot` of Graphviz.
struct Graphviz {
  std::string program = "dot";         ///< a name to be looked for along PATH, or a path
  std::chrono::seconds patience{300};  ///< time for one layout; a second is enough for most
  int stop = -1;  ///< a descriptor, readable once it is to end early; -1: never
};

struct Place {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

/// All in pixels, to the right and down. Lists are in the order of the picture's.
struct PictureLayout {
  double width = 0;
  double height = 0;
  std::vector<Box> nodes;
  std::vector<Box> clusters;
  /// Edges as cubic curves: a first place, then three for each curve; the last one is the arrow's
  /// tip.
  std::vector<std::vector<Place>> edges;
};

/// Lays a picture out. `heat` changes the width of cards. Fails: kUnavailable (no Graphviz, with
/// what to install; it ended with an error), kTimeout, kClosed (stopped), kCorrupt (its answer is
/// not of this picture), as files do.
Expected<PictureLayout> lay_out(const GraphPicture& picture, Heat heat, const Graphviz& graphviz);

/// Reads the answer of `dot -Tjson0`. Fails: kCorrupt.
Expected<PictureLayout> layout_from_json(const GraphPicture& picture, const std::string& json);

}  // namespace pareto::report::graph
