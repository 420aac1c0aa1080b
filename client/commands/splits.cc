#include <CLI/CLI.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/profiled_cuts.h"
#include "client/commands/show.h"
#include "client/commands/shown_cuts.h"
#include "client/flags/inputs.h"
#include "client/flags/json_flag.h"
#include "client/flags/model_flags.h"
#include "client/flags/number_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/splits_flag.h"
#include "client/flags/store_flags.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

using Json = nlohmann::ordered_json;
using model::Graph;
using model::Model;
using model::SplitPoint;

class SplitsCommand final : public Command {
 public:
  std::string_view name() const override { return "splits"; }
  std::string_view summary() const override {
    return "list where a model may be cut: what crosses each cut, and the work on either side";
  }
  std::string_view examples() const override {
    return "  paretoctl splits --model mobilenetv2\n"
           "  paretoctl splits --model swin_t.pt --input-shape 3x224x224 --splits all --json\n"
           "  paretoctl splits --model resnet50 --splits modules --time\n"
           "  paretoctl splits --model inceptionv3 --frontiers 10 --time\n"
           "  paretoctl splits --model inceptionv3 --frontiers --profiled\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    cuts_.add_to(app, splits_, "show");
    auto* frontiers = set_value(
        app.add_option("--frontiers", frontiers_,
                       "show this number of frontiers, or all: sets of operators that hold what "
                       "they need, those first that the fewest bytes cross (default: 20)"),
        "N|all", {"all"});
    frontiers->expected(0, 1)->default_str(kShownFrontiers);
    auto* all =
        app.add_flag("--all", all_, "show also points at which no cut is allowed, with the reason");
    all->excludes(frontiers)->excludes(app.get_option("--trainable"));
    for (auto* option : {frontiers, all}) {
      option->excludes(app.get_option("--splits"))->excludes(app.get_option("--frontier"));
    }
    set_value(
        app.add_option("--batch", named_batch_,
                       "batch size that bytes are given for (default: 1, or that of --input)"),
        "N")
        ->check(check_one_value);
    app.add_flag("--time", time_,
                 "measure the time of each side, on one thread of the plain engine here");
    app.add_flag("--profiled", profiled_,
                 "show what each side takes on the devices that were profiled (paretoctl profile)");
    store_.add_to(app);
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    std::size_t most = 0;
    if (frontiers_) {
      PARETO_ASSIGN(most, read_most());
      splits_ = "frontiers";
    }
    PARETO_ASSIGN(const auto named, parse_named_batches(named_batch_));
    PARETO_ASSIGN(const Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named));
    batch_ = batches.front();
    PARETO_ASSIGN(std::vector<ShownCut> cuts, find(context, model));
    found_ = cuts.size();
    if (frontiers_) keep_smallest(cuts, most);
    if (time_) PARETO_TRY(time_sides(model, batch_, cuts));
    if (profiled_) {
      PARETO_ASSIGN(const auto store, store_.open_profiles(context, "--profiled"));
      PARETO_TRY(add_profiled(model, batch_, *store, cuts));
    }
    if (json_) {
      print_json(context, model, cuts);
    } else {
      print_table(context, model, cuts);
    }
    return kExitDone;
  }

 private:
  static constexpr const char* kShownFrontiers = "20";

  Expected<std::size_t> read_most() const {
    if (*frontiers_ == "all") return std::numeric_limits<std::size_t>::max();
    // The parser writes {} if no number follows.
    const bool is_open = frontiers_->empty() || *frontiers_ == "{}";
    return parse_number<std::size_t>(is_open ? kShownFrontiers : *frontiers_, "--frontiers");
  }

  Expected<std::vector<ShownCut>> find(Context& context, const Model& model) {
    if (all_) return show_positions(model, batch_);
    PARETO_ASSIGN(const auto cuts, cuts_.select(context, model, splits_));
    return show_cuts(model, cuts, batch_);
  }

  void print_table(Context& context, const Model& model, const std::vector<ShownCut>& cuts) const {
    const Graph& graph = model.graph();
    context.out << table_of(graph, cuts, frontiers_.has_value()).render(style_of(context));
    std::size_t legal = 0;
    for (const SplitPoint& point : model.split_points()) legal += point.legal ? 1 : 0;
    context.out << fmt::format("\n{}: {}, ", model.name(),
                               counted(graph.operators.size(), "operator"));
    if (frontiers_) {
      context.out << fmt::format("{} to cut at", counted(found_, "frontier"));
      if (cuts.size() < found_) {
        context.out << fmt::format(" ({} that the fewest bytes cross are shown)", cuts.size());
      }
    } else {
      context.out << fmt::format("{} to cut at, {} of them allowed",
                                 counted(model.split_points().size(), "position"), legal);
    }
    context.out << fmt::format("; {} of weights; bytes at batch {}, FLOPs of one sample\n",
                               format_bytes(model::weight_bytes(graph)), batch_);
    for (const model::VaryingSize& size : graph.sizes) {
      context.out << fmt::format("{}: {} to {}{}; quotients are rounded down\n", size.name,
                                 size.least, size.most,
                                 size.step == 1 ? "" : fmt::format(", every {}", size.step));
    }
    for (const auto& op : graph.operators) {
      if (op.inner_operators == 0) continue;
      context.out << fmt::format("kept whole: {} in {} with {} inside\n", op.kind,
                                 op.scope.empty() ? "the model" : op.scope,
                                 counted(op.inner_operators, "operator"));
    }
  }

  void print_json(Context& context, const Model& model, const std::vector<ShownCut>& cuts) const {
    const Graph& graph = model.graph();
    Json json{{"model", model.name()},
              {"operators", graph.operators.size()},
              {"positions", model.split_points().size()},
              {"weight_bytes", model::weight_bytes(graph)},
              {"batch", batch_},
              {"only_batch", model.only_batch() ? Json(*model.only_batch()) : Json()}};
    if (frontiers_) json["frontiers"] = found_;
    json["splits"] = to_json(graph, cuts);
    json["kept_whole"] = Json::array();
    for (const auto& op : graph.operators) {
      if (op.inner_operators == 0) continue;
      json["kept_whole"].push_back(
          {{"kind", op.kind}, {"scope", op.scope}, {"inner_operators", op.inner_operators}});
    }
    context.out << dump(json, 2) << '\n';
  }

  ModelFlags model_;
  CutFlags cuts_;
  StoreFlags store_;
  std::string splits_ = "all";
  std::optional<std::string> frontiers_;
  std::string named_batch_;
  std::int64_t batch_ = 1;
  std::size_t found_ = 0;  ///< cuts before only some of them are shown
  bool all_ = false;
  bool time_ = false;
  bool profiled_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_splits_command() { return std::make_unique<SplitsCommand>(); }

}  // namespace pareto::client::commands
