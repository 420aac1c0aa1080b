#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/text.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/split_points.h"

namespace pareto::model {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

class Selector {
 public:
  explicit Selector(const std::vector<SplitPoint>& points) : points_(points) {}

  Expected<> add(const std::string& text) {
    if (text == "all") return add_first_of(text, {any});
    if (text == "modules") return add_first_of(text, {ends_module, any});
    if (text == "auto") {
      return add_first_of(text, {ends_module_with_one, ends_module, crossed_by_one, any});
    }
    if (text.starts_with("percent:")) return add_percent(text);
    return add_named(text);
  }

  std::vector<std::size_t> take() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  using Wanted = bool (*)(const SplitPoint&);
  static bool any(const SplitPoint&) { return true; }
  static bool ends_module(const SplitPoint& point) { return point.is_module_end; }
  static bool crossed_by_one(const SplitPoint& point) { return point.tensors == 1; }
  static bool ends_module_with_one(const SplitPoint& point) {
    return ends_module(point) && crossed_by_one(point);
  }

  /// Adds the legal points that the first condition holds for which holds for any.
  Expected<> add_first_of(const std::string& text, std::initializer_list<Wanted> conditions) {
    for (const Wanted wanted : conditions) {
      bool found = false;
      for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!points_[i].legal || !wanted(points_[i])) continue;
        found = true;
        chosen_.insert(i);
      }
      if (found) return {};
    }
    return fail(ErrorCode::kNotFound, "`{}` selects nothing: the model has no legal split point",
                text);
  }

  Expected<> add_percent(const std::string& text) {
    const auto percent = parse_number(std::string_view(text).substr(8));
    if (!percent || *percent < 0 || *percent > 100) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\": percent:P takes a number from 0 to 100",
                  text);
    }
    std::optional<std::size_t> best;
    double nearest = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].legal) continue;
      const double distance = std::abs(share(points_[i]) - *percent / 100);
      if (best && distance >= nearest) continue;
      best = i;
      nearest = distance;
    }
    if (!best) return fail(ErrorCode::kNotFound, "the model has no legal split point");
    chosen_.insert(*best);
    return {};
  }

  /// Returns the share of the model's FLOPs; of its operators if no FLOPs are known.
  double share(const SplitPoint& point) const {
    const double all = point.flops_before + point.flops_after;
    if (all > 0) return point.flops_before / all;
    return static_cast<double>(point.position) / static_cast<double>(points_.size() + 1);
  }

  Expected<> add_named(const std::string& text) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const auto& names = points_[i].names;
      if (std::find(names.begin(), names.end(), text) == names.end()) continue;
      if (!points_[i].legal) {
        return fail(ErrorCode::kInvalidArgument, "no cut at \"{}\": {}", text, points_[i].reason);
      }
      chosen_.insert(i);
      return {};
    }
    if (text.starts_with("op:")) {
      return fail(ErrorCode::kNotFound, "no split point \"{}\": positions are op:1 to op:{}", text,
                  points_.size());
    }
    std::vector<std::string> known{"all", "modules", "auto"};
    for (const SplitPoint& point : points_) {
      for (const std::string& name : point.names) {
        if (name.starts_with("after:")) known.push_back(name);
      }
    }
    const std::string wanted =
        text.find(':') == std::string::npos && text.find('.') != text.npos ? "after:" + text : text;
    return fail(ErrorCode::kNotFound, "no split point \"{}\"{}", text, did_you_mean(wanted, known));
  }

  const std::vector<SplitPoint>& points_;
  std::set<std::size_t> chosen_;
};

std::string block_text(const Operator& op) {
  return fmt::format("{} with {} inside ({})", op.kind == "prim::Loop" ? "loop" : "branch",
                     counted(op.inner_operators, "operator"), op.kind);
}

std::string why_whole(const Operator& op) {
  return op.steps > 0 ? fmt::format("its {} steps are too many to unroll", op.steps)
                      : "how it runs follows from its inputs";
}

/// Returns why a model has no legal split point, and what can be done.
std::string why_uncut(const Graph& graph, const std::vector<SplitPoint>& points) {
  if (!points.empty()) {
    return fmt::format("none of its {} positions can be cut; at {}: {}", points.size(),
                       points.front().name, points.front().reason);
  }
  const Operator& only = graph.operators.front();
  if (only.inner_operators == 0) {
    return fmt::format("the whole model is one operator, {}: run it uncut on one device",
                       only.kind);
  }
  return fmt::format(
      "the whole model is one {}, and {}. Run it uncut on one device, or save it with fewer steps "
      "of a constant number, which are unrolled and can be cut (torch.jit.trace, or range() of a "
      "constant)",
      block_text(only), why_whole(only));
}

}  // namespace

Expected<std::vector<std::size_t>> select_split_points(const Model& model, std::string_view text) {
  const std::vector<SplitPoint>& points = model.split_points();
  auto chosen = select_split_points(points, text);
  if (chosen || std::ranges::any_of(points, &SplitPoint::legal)) return chosen;
  return fail(chosen.error().code, "{}: {} cannot be cut: {}", text, model.name(),
              why_uncut(model.graph(), points));
}

Expected<std::vector<std::size_t>> select_split_points(const std::vector<SplitPoint>& points,
                                                       std::string_view text) {
  const auto parts = split_list(text);
  if (parts.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "no split point given (all, modules, auto, after:PATH, op:N, percent:P)");
  }
  Selector selector(points);
  for (const std::string& part : parts) PARETO_TRY(selector.add(part));
  return selector.take();
}

std::vector<std::string> cuts_named_twice(const std::vector<SplitPoint>& points,
                                          std::string_view text) {
  std::map<std::size_t, std::vector<std::string>> names;
  for (const std::string& part : split_list(text)) {
    const auto chosen = select_split_points(points, part);
    const bool names_one = part.find(':') != std::string::npos && chosen && chosen->size() == 1;
    if (names_one) names[chosen->front()].push_back(part);
  }
  std::vector<std::string> sentences;
  for (const auto& [point, parts] : names) {
    if (parts.size() < 2) continue;
    sentences.push_back(
        fmt::format("{} are one cut, {}", join(parts, " and "), points[point].name));
  }
  return sentences;
}

}  // namespace pareto::model
