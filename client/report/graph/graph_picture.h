// A model as a picture: cards of operators or modules, clusters of modules around them, and what
// flows from card to card.
//
//   Graph ──picture_of──▶ GraphPicture ──lay_out──▶ PictureLayout ──▶ svg, html, png
//                              └──picture_dot──▶ dot
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::report::graph {

enum class PictureView { kModules, kOperators };

/// Figures that colour a card from pale to strong, in the order in which a page offers them.
enum class Heat { kNone, kTime, kFlops, kActivations, kParameters };

/// A cut that is drawn.
struct PictureCut {
  std::string name;
  plan::OperatorRanges before;
};

struct GraphPictureOptions {
  PictureView view = PictureView::kModules;
  /// Depth at which a module is one card, or to which clusters of operators are drawn. 0 means as
  /// deep as there are few cards, or all clusters.
  int depth = 0;
  std::int64_t batch = 1;          ///< the batch that bytes are given for
  std::vector<double> times_ms{};  ///< time of each operator; empty: not known
  std::string timed_on{};          ///< where they were measured
  std::vector<PictureCut> cuts{};  ///< each holds all that the one before it has
};

struct WeightRow {
  enum class Kind { kTrainable, kFrozen, kBuffer };
  std::string name;   ///< last part of its name: "weight"
  std::string shape;  ///< "64x3x7x7"
  std::int64_t elements = 0;
  std::uint64_t bytes = 0;
  Kind kind = Kind::kTrainable;
};

struct PictureNode {
  enum class Kind { kInput, kOperator, kModule, kOutput };
  Kind kind = Kind::kOperator;
  std::string title{};                    ///< "conv2d", "layer1.0", "input"
  std::string path{};                     ///< module path; "" at the root
  std::string inner_path{};               ///< path without what the cluster around it says
  std::string main_kind{};                ///< kind of operator that takes most FLOPs: "conv2d"
  std::string contents{};                 ///< of a module: "3 conv2d, 2 relu"
  std::vector<std::int64_t> operators{};  ///< positions in the model, ascending
  std::vector<std::string> makes{};       ///< values that others read: "Bx64x56x56"
  bool has_tensors = false;               ///< whether it makes more than numbers and lists of them
  std::uint64_t activation_bytes = 0;     ///< tensors among them, at the batch
  std::vector<WeightRow> weights{};
  double flops = 0;  ///< FLOPs of one sample
  double time_ms = 0;
  std::size_t stage = 0;     ///< cuts that lie before it
  bool is_boundary = false;  ///< what it makes crosses a cut
  std::size_t cluster = 0;   ///< number of the cluster that it stands in; 0: none

  std::int64_t elements(WeightRow::Kind kind) const;
  /// Returns the elements of all its parameters, frozen ones too.
  std::int64_t parameters() const;
};

/// A module around cards.
struct PictureCluster {
  std::string title;  ///< "layer1", or "0" inside it
  std::string path;
  std::size_t parent = 0;  ///< number of the cluster around it; 0: none
  int depth = 0;           ///< clusters around it
  double flops = 0;
  std::int64_t parameters = 0;
  std::size_t operators = 0;
};

struct PictureEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  std::string values;       ///< "Bx64x56x56"
  std::uint64_t bytes = 0;  ///< tensors, at the batch
  bool crosses = false;     ///< the two lie in different stages
};

struct GraphPicture {
  std::string model;
  std::size_t operators = 0;
  GraphPictureOptions options;
  int depth = 0;                         ///< the depth that was taken
  std::vector<PictureNode> nodes;        ///< in the order of the model
  std::vector<PictureCluster> clusters;  ///< cluster number i is clusters[i - 1]; parents first
  std::vector<PictureEdge> edges;

  std::size_t stages() const { return options.cuts.size() + 1; }
};

/// Makes the picture. No card holds operators of two stages. Fails: kInvalidArgument (times of
/// another number of operators), as ValueSpec::size_bytes.
Expected<GraphPicture> picture_of(const model::Graph& graph, const GraphPictureOptions& options);

/// Returns "Bx64x56x56", with a dtype in front unless it is float32; other values as they describe
/// themselves.
std::string value_text(const ValueSpec& spec);

/// Returns what a card's colour says: time in ms, FLOPs, bytes, or parameters.
double heat_of(const PictureNode& node, Heat heat);
/// Returns the names of all, in their order: "none", "time", …
std::vector<std::string> heat_names();
/// Finds what cards are coloured by, by its name. Fails: kNotFound, with the nearest name.
Expected<Heat> parse_heat(std::string_view name);
/// Returns what a legend calls it: "FLOPs of one sample".
std::string heat_title(Heat heat, const GraphPictureOptions& options);
/// Returns a figure of it: "1.2 ms", "236 M", "784 KiB".
std::string heat_text(Heat heat, double value);

}  // namespace pareto::report::graph
