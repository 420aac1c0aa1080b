#include "client/report/graph/graph_picture.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "client/report/graph/module_tree.h"
#include "client/report/html_text.h"
#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

/// Number of cards that a picture of modules has at most, unless a depth is asked for.
constexpr std::size_t kFewCards = 60;
/// Number of bytes up to which values between two cards are listed, about.
constexpr std::size_t kMostText = 200;
constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Returns whether a value holds tensors that are more than a number.
bool holds_tensors(const ValueSpec& spec) {
  return std::ranges::any_of(tensors_of(spec),
                             [](const TensorSpec& tensor) { return !tensor.dims.empty(); });
}

std::string_view short_kind(std::string_view kind) {
  const std::size_t colons = kind.rfind("::");
  return colons == std::string_view::npos ? kind : kind.substr(colons + 2);
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

WeightRow row_of(const model::GraphWeight& weight) {
  WeightRow row{.name = last_part(weight.name), .shape = to_string(weight.shape)};
  row.elements = element_count(weight.shape).value_or(0);
  row.bytes = weight.size_bytes;
  row.kind = weight.is_trainable   ? WeightRow::Kind::kTrainable
             : weight.is_parameter ? WeightRow::Kind::kFrozen
                                   : WeightRow::Kind::kBuffer;
  return row;
}

/// Returns "2 conv2d, 2 batch_norm, relu", the most frequent kinds first.
std::string contents_of(const model::Graph& graph, const std::vector<std::int64_t>& operators) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::string, int>> kinds;
  for (const std::int64_t op : operators) {
    const std::string kind(short_kind(graph.operators[at(op)].kind));
    const auto known = std::ranges::find(kinds, kind, &std::pair<std::string, int>::first);
    if (known == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++known->second;
    }
  }
  std::ranges::stable_sort(kinds, std::greater<>(), &std::pair<std::string, int>::second);
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) {
    if (parts.size() == kShown) {
      parts.emplace_back("…");
      break;
    }
    parts.push_back(count == 1 ? kind : std::to_string(count) + " " + kind);
  }
  return join(parts, ", ");
}

bool is_number(const std::string& part) {
  return part.find_first_not_of("0123456789") == std::string::npos;
}

/// Returns the last part of a path, and if that is a number the one before it: "layer1.0".
std::string title_of(const std::vector<std::string>& path) {
  std::size_t first = path.size() - 1;
  while (first > 0 && is_number(path[first])) --first;
  return join(std::span(path).subspan(first), ".");
}

/// Returns the same of a cluster: "layer1.0" of "0" in layer1.
std::string title_of(const ModuleCluster& cluster) {
  const std::size_t own = cluster.path.size() - cluster.title.size();
  const std::vector<std::string> inner = split_list(cluster.title, '.');
  if (own == 0 || inner.empty()) return cluster.title;
  std::vector<std::string> path = split_list(cluster.path.substr(0, own - 1), '.');
  path.push_back(inner.front());
  std::string title = title_of(path);
  for (std::size_t i = 1; i < inner.size(); ++i) title += "." + inner[i];
  return title;
}

/// Builds a picture card by card.
class PictureBuilder {
 public:
  PictureBuilder(const model::Graph& graph, const GraphPictureOptions& options)
      : graph_(graph), options_(options), node_of_(graph.operators.size(), kNoNode) {
    stages_.resize(graph.operators.size(), 0);
    for (std::size_t op = 0; op < stages_.size(); ++op) {
      for (const PictureCut& cut : options.cuts) {
        if (!plan::holds(cut.before, static_cast<std::int64_t>(op))) ++stages_[op];
      }
    }
  }

  Expected<GraphPicture> build() {
    picture_.model = graph_.model;
    picture_.operators = graph_.operators.size();
    picture_.options = options_;
    add_inputs();
    add_cards();
    add_outputs();
    PARETO_TRY(add_edges());
    sum_clusters();
    return std::move(picture_);
  }

 private:
  void add_inputs() {
    for (const std::int64_t value : graph_.inputs) {
      input_nodes_[value] = picture_.nodes.size();
      picture_.nodes.push_back({.kind = PictureNode::Kind::kInput,
                                .title = "input",
                                .path = graph_.values[at(value)].name});
    }
  }

  void add_cards() {
    std::vector<ModuleLeaf> leaves = leaves_of();
    std::vector<std::size_t> clusters(leaves.size(), 0);
    const int deepest = options_.view == PictureView::kModules || options_.depth == 0
                            ? kAllClusters
                            : options_.depth;
    for (const ModuleCluster& cluster : clusters_of(leaves, deepest)) {
      picture_.clusters.push_back({.title = title_of(cluster),
                                   .path = cluster.path,
                                   .parent = cluster.parent,
                                   .depth = cluster.depth});
      // Inner ones follow, and take what they hold.
      for (std::size_t i = cluster.begin; i < cluster.end; ++i) {
        clusters[i] = picture_.clusters.size();
      }
    }
    std::map<std::string, int> parts;
    for (const ModuleLeaf& leaf : leaves) parts[leaf.module_path()] += leaf.is_module ? 1 : 0;
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      PictureNode node = card_of_leaf(leaves[i]);
      node.cluster = clusters[i];
      node.inner_path = inner_path(node);
      const std::string path = leaves[i].module_path();
      if (node.kind == PictureNode::Kind::kModule && parts[path] > 1) {
        node.title +=
            " (" + std::to_string(++seen[path]) + " of " + std::to_string(parts[path]) + ")";
      }
      for (const std::int64_t op : node.operators) node_of_[at(op)] = picture_.nodes.size();
      picture_.nodes.push_back(std::move(node));
    }
  }

  std::vector<ModuleLeaf> leaves_of() {
    if (options_.view == PictureView::kOperators) {
      picture_.depth = options_.depth;
      return operator_leaves(graph_);
    }
    if (options_.depth > 0) {
      picture_.depth = options_.depth;
      return module_leaves(graph_, options_.depth, stages_);
    }
    std::vector<ModuleLeaf> chosen = module_leaves(graph_, 1, stages_);
    picture_.depth = 1;
    for (int depth = 2;; ++depth) {
      std::vector<ModuleLeaf> deeper = module_leaves(graph_, depth, stages_);
      if (deeper.size() > kFewCards || deeper.size() == chosen.size()) return chosen;
      chosen = std::move(deeper);
      picture_.depth = depth;
    }
  }

  std::string inner_path(const PictureNode& node) const {
    if (node.cluster == 0) return node.path;
    const std::string& around = picture_.clusters[node.cluster - 1].path;
    if (node.path == around) return "";
    if (!node.path.starts_with(around + ".")) return node.path;
    const std::string inner = node.path.substr(around.size() + 1);
    return is_number(inner) ? title_of(split_list(node.path, '.')) : inner;
  }

  PictureNode card_of_leaf(const ModuleLeaf& leaf) const {
    const model::Operator& first = graph_.operators[at(leaf.operators.front())];
    PictureNode node{.path = first.scope, .operators = leaf.operators};
    if (leaf.operators.size() > 1) {
      node.kind = PictureNode::Kind::kModule;
      node.path = leaf.module_path();
      node.title = title_of(leaf.path);
      node.contents = contents_of(graph_, leaf.operators);
    } else {
      node.title = std::string(short_kind(first.kind));
      if (first.inner_operators > 0) {
        node.contents = std::to_string(first.inner_operators) + " operators inside";
      }
    }
    node.stage = stages_[at(leaf.operators.front())];
    std::set<std::int64_t> weights;
    double most = -1;
    for (const std::int64_t op : leaf.operators) {
      const model::Operator& one = graph_.operators[at(op)];
      if (one.flops_per_sample > most) {
        most = one.flops_per_sample;
        node.main_kind = std::string(short_kind(one.kind));
      }
      node.flops += one.flops_per_sample;
      if (!options_.times_ms.empty()) node.time_ms += options_.times_ms[at(op)];
      for (const std::int64_t output : one.outputs) {
        node.has_tensors = node.has_tensors || holds_tensors(graph_.values[at(output)].spec);
      }
      for (const std::int64_t weight : one.weights) {
        if (weights.insert(weight).second) {
          node.weights.push_back(row_of(graph_.weights[at(weight)]));
        }
      }
    }
    return node;
  }

  void add_outputs() {
    for (const std::int64_t value : graph_.outputs) {
      PictureNode node{.kind = PictureNode::Kind::kOutput,
                       .title = "output",
                       .path = graph_.values[at(value)].name};
      node.stage = options_.cuts.size();
      output_nodes_.emplace_back(value, picture_.nodes.size());
      picture_.nodes.push_back(std::move(node));
    }
  }

  /// Returns the card that makes a value; none of a constant that the model returns.
  std::optional<std::size_t> maker_of(std::int64_t value) const {
    const std::int64_t producer = graph_.values[at(value)].producer;
    if (producer >= 0) return node_of_[at(producer)];
    const auto input = input_nodes_.find(value);
    return input == input_nodes_.end() ? std::nullopt : std::optional(input->second);
  }

  Expected<> add_edges() {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> edges;
    const auto connect = [&](std::size_t from, std::size_t to, const std::string& text,
                             std::uint64_t bytes) {
      const auto [known, fresh] = edges.try_emplace({from, to}, picture_.edges.size());
      if (fresh) {
        const bool crosses = picture_.nodes[from].stage != picture_.nodes[to].stage;
        picture_.edges.push_back({.from = from, .to = to, .values = text, .crosses = crosses});
        if (crosses) picture_.nodes[from].is_boundary = true;
      } else {
        std::string& values = picture_.edges[known->second].values;
        if (values.size() < kMostText) values += ", " + text;
      }
      picture_.edges[known->second].bytes += bytes;
    };
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const auto value = static_cast<std::int64_t>(i);
      const auto from = maker_of(value);
      if (!from) continue;
      std::set<std::size_t> readers;
      for (const std::int64_t user : graph_.values[i].users) readers.insert(node_of_[at(user)]);
      for (const auto& [output, node] : output_nodes_) {
        if (output == value) readers.insert(node);
      }
      readers.erase(*from);
      PictureNode& maker = picture_.nodes[*from];
      if (readers.empty() && maker.kind != PictureNode::Kind::kInput) continue;
      const ValueSpec& spec = graph_.values[i].spec;
      PARETO_ASSIGN(const std::uint64_t bytes, spec.size_bytes(options_.batch));
      const std::string text = value_text(spec);
      maker.makes.push_back(text);
      maker.activation_bytes += bytes;
      for (const std::size_t reader : readers) connect(*from, reader, text, bytes);
    }
    for (const auto& [value, node] : output_nodes_) {
      const ValueSpec& spec = graph_.values[at(value)].spec;
      picture_.nodes[node].makes = {value_text(spec)};
      PARETO_ASSIGN(picture_.nodes[node].activation_bytes, spec.size_bytes(options_.batch));
    }
    return {};
  }

  void sum_clusters() {
    for (const PictureNode& node : picture_.nodes) {
      for (std::size_t number = node.cluster; number > 0;) {
        PictureCluster& cluster = picture_.clusters[number - 1];
        cluster.flops += node.flops;
        cluster.parameters += node.parameters();
        cluster.operators += node.operators.size();
        number = cluster.parent;
      }
    }
  }

  const model::Graph& graph_;
  const GraphPictureOptions& options_;
  GraphPicture picture_;
  std::vector<std::size_t> node_of_;  ///< card of each operator
  std::vector<std::size_t> stages_;   ///< stage of each operator
  std::map<std::int64_t, std::size_t> input_nodes_;
  std::vector<std::pair<std::int64_t, std::size_t>> output_nodes_;
};

}  // namespace

std::int64_t PictureNode::elements(WeightRow::Kind wanted) const {
  std::int64_t sum = 0;
  for (const WeightRow& row : weights) sum += row.kind == wanted ? row.elements : 0;
  return sum;
}

std::int64_t PictureNode::parameters() const {
  return elements(WeightRow::Kind::kTrainable) + elements(WeightRow::Kind::kFrozen);
}

std::string value_text(const ValueSpec& spec) {
  std::string text = spec.describe();
  constexpr std::string_view kUsual = "float32[";
  if (spec.kind != ValueSpec::Kind::kTensor) return replaced(text, kUsual, "[");
  return text.starts_with(kUsual) ? text.substr(kUsual.size(), text.size() - kUsual.size() - 1)
                                  : text;
}

Expected<GraphPicture> picture_of(const model::Graph& graph, const GraphPictureOptions& options) {
  if (!options.times_ms.empty() && options.times_ms.size() != graph.operators.size()) {
    return fail(ErrorCode::kInvalidArgument, "times of {} operators, and {} has {}",
                options.times_ms.size(), graph.model, graph.operators.size());
  }
  return PictureBuilder(graph, options).build();
}

}  // namespace pareto::report::graph
