#include "client/report/graph/picture_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/report/child_program.h"
#include "client/report/graph/picture_writer.h"
#include "core/base/file.h"
#include "core/base/json_reason.h"

namespace pareto::report::graph {
namespace {

using LayoutJson = nlohmann::json;

/// A drawing of a length beyond this is an error of the layout.
constexpr double kLongest = 1e7;

/// Reads numbers that stand between commas and blanks, until something else does.
class Numbers {
 public:
  explicit Numbers(const std::string& text) : at_(text.c_str()) {}

  std::optional<double> next() {
    while (*at_ == ',' || *at_ == ' ') ++at_;
    char* end = nullptr;
    const double number = std::strtod(at_, &end);
    if (end == at_ || !(std::abs(number) < kLongest)) return std::nullopt;
    at_ = end;
    return number;
  }
  bool skip(const char* text) {
    const std::size_t length = std::strlen(text);
    if (std::strncmp(at_, text, length) != 0) return false;
    at_ += length;
    return true;
  }
  bool at_end() const { return *at_ == '\0'; }

 private:
  const char* at_;
};

Error odd_answer(const std::string& what) {
  return {ErrorCode::kCorrupt, "Graphviz answered what is no layout of this picture: " + what};
}

/// Reads the answer; points up are turned into pixels down.
class LayoutReader {
 public:
  LayoutReader(const GraphPicture& picture, const LayoutJson& json)
      : picture_(picture), json_(json) {}

  Expected<PictureLayout> read() {
    Numbers bounds(json_.at("bb").get_ref<const std::string&>());
    for (double* side : {&left_, &bottom_, &right_, &top_}) {
      const auto number = bounds.next();
      if (!number) return tl::unexpected(odd_answer("it has no bounds"));
      *side = *number;
    }
    layout_.width = right_ - left_;
    layout_.height = top_ - bottom_;
    layout_.nodes.resize(picture_.nodes.size());
    layout_.clusters.resize(picture_.clusters.size());
    layout_.edges.resize(picture_.edges.size());
    if (json_.contains("objects")) {
      for (const LayoutJson& object : json_.at("objects")) PARETO_TRY(add_object(object));
    }
    if (json_.contains("edges")) {
      for (const LayoutJson& edge : json_.at("edges")) PARETO_TRY(add_edge(edge));
    }
    const auto is_missing = [](const Box& box) { return box.width <= 0; };
    if (std::ranges::any_of(layout_.nodes, is_missing) ||
        std::ranges::any_of(layout_.clusters, is_missing) ||
        std::ranges::any_of(layout_.edges, [](const auto& edge) { return edge.empty(); })) {
      return tl::unexpected(odd_answer("something is missing"));
    }
    return std::move(layout_);
  }

 private:
  Place place_of(double x, double y) const { return {x - left_, top_ - y}; }

  Expected<> add_object(const LayoutJson& object) {
    const auto& name = object.at("name").get_ref<const std::string&>();
    constexpr std::string_view kCluster = "cluster_";
    if (name.starts_with(kCluster)) {
      const std::size_t number = std::strtoul(name.c_str() + kCluster.size(), nullptr, 10);
      if (number < 1 || number > layout_.clusters.size()) {
        return tl::unexpected(odd_answer("cluster " + name));
      }
      Numbers box(object.at("bb").get_ref<const std::string&>());
      const auto left = box.next();
      const auto bottom = box.next();
      const auto right = box.next();
      const auto top = box.next();
      if (!top) return tl::unexpected(odd_answer("the bounds of " + name));
      const Place corner = place_of(*left, *top);
      layout_.clusters[number - 1] = {corner.x, corner.y, *right - *left, *top - *bottom};
    } else {
      const std::size_t number = std::strtoul(name.c_str() + 1, nullptr, 10);
      if (!name.starts_with("n") || number >= layout_.nodes.size()) {
        return tl::unexpected(odd_answer("card " + name));
      }
      Numbers middle(object.at("pos").get_ref<const std::string&>());
      const auto x = middle.next();
      const auto y = middle.next();
      if (!y) return tl::unexpected(odd_answer("the place of " + name));
      const double width = 72 * std::stod(object.at("width").get_ref<const std::string&>());
      const double height = 72 * std::stod(object.at("height").get_ref<const std::string&>());
      const Place centre = place_of(*x, *y);
      layout_.nodes[number] = {centre.x - width / 2, centre.y - height / 2, width, height};
    }
    return {};
  }

  /// Reads "e,x,y", the tip, and then the curve.
  Expected<> add_edge(const LayoutJson& edge) {
    const auto& id = edge.at("id").get_ref<const std::string&>();
    const std::size_t number = std::strtoul(id.c_str(), nullptr, 10);
    if (number >= layout_.edges.size()) return tl::unexpected(odd_answer("edge " + id));
    Numbers curve(edge.at("pos").get_ref<const std::string&>());
    std::optional<Place> tip;
    std::vector<Place> places;
    const auto next = [&]() -> std::optional<Place> {
      const auto x = curve.next();
      const auto y = curve.next();
      return y ? std::optional(place_of(*x, *y)) : std::nullopt;
    };
    if (curve.skip("e,")) tip = next();
    while (const auto place = next()) places.push_back(*place);
    if (places.size() < 4 || places.size() % 3 != 1 || !curve.at_end()) {
      return tl::unexpected(odd_answer("the curve of an edge"));
    }
    if (tip) places.back() = *tip;
    layout_.edges[number] = std::move(places);
    return {};
  }

  const GraphPicture& picture_;
  const LayoutJson& json_;
  PictureLayout layout_;
  double left_ = 0;
  double bottom_ = 0;
  double right_ = 0;
  double top_ = 0;
};

}  // namespace

Expected<PictureLayout> layout_from_json(const GraphPicture& picture, const std::string& json) {
  try {
    const LayoutJson answer = LayoutJson::parse(json);
    return LayoutReader(picture, answer).read();
  } catch (const LayoutJson::exception& error) {
    return tl::unexpected(odd_answer(json_reason(error)));
  } catch (const std::logic_error& error) {
    return tl::unexpected(odd_answer("a size is no number"));
  }
}

Expected<PictureLayout> lay_out(const GraphPicture& picture, Heat heat, const Graphviz& graphviz) {
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("pareto-layout"));
  const auto input = folder.path() / "model.dot";
  PARETO_TRY(write_file_atomically(input, layout_dot(picture, heat)));
  const auto code = run_child({.program = graphviz.program,
                               .arguments = {"-Tjson0"},
                               .folder = folder.path(),
                               .input = input,
                               .patience = graphviz.patience,
                               .stop = graphviz.stop});
  if (!code && code.error().code == ErrorCode::kNotFound) {
    return fail(
        ErrorCode::kUnavailable,
        "{} is not there: Graphviz lays out pictures: install it (apt install graphviz), or write "
        "--format dot, which does without",
        graphviz.program);
  }
  if (!code) return tl::unexpected(code.error());
  if (*code != 0) {
    return fail(ErrorCode::kUnavailable, "Graphviz ended with {}: {}", *code,
                last_words(folder.path()));
  }
  PARETO_ASSIGN(const std::string answer, read_file(folder.path() / "stdout"));
  return layout_from_json(picture, answer);
}

}  // namespace pareto::report::graph
