// graph: a model as a picture.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>

#include "client/commands/commands.h"
#include "client/commands/output_file.h"
#include "client/commands/profiled_cuts.h"
#include "client/commands/run_cuts.h"
#include "client/commands/show.h"
#include "client/commands/shown_cuts.h"
#include "client/flags/inputs.h"
#include "client/flags/json_flag.h"
#include "client/flags/model_flags.h"
#include "client/flags/number_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/slow_opening.h"
#include "client/flags/store_flags.h"
#include "client/report/graph/picture_writer.h"
#include "client/report/plan_text.h"
#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/planning/frontiers/select_cuts.h"

namespace pareto::client::commands {
namespace {

using model::Model;

constexpr const char* kPictureFormats[] = {"html", "svg", "png", "dot"};
constexpr const char* kPictureOnStdout = "-";
constexpr const char* kUsualSplits = "modules";
/// Number of characters up to which values that cross are listed next to a cut of the page.
constexpr std::size_t kMostShownValues = 120;

std::vector<std::string> picture_formats() {
  return {std::begin(kPictureFormats), std::end(kPictureFormats)};
}

class GraphCommand final : public Command {
 public:
  std::string_view name() const override { return "graph"; }
  std::string_view summary() const override {
    return "draw a model: its operators or modules, what flows between them, and where it is cut";
  }
  std::string_view examples() const override {
    return "  paretoctl graph --model resnet18\n"
           "  paretoctl graph --model inceptionv3 --split after:Mixed_6a --time --output cut.svg\n"
           "  paretoctl graph --model swin_t.pt --input-shape 3x224x224 --view operators\n"
           "  paretoctl graph --model resnet50 --depth 1 --heat parameters --format png\n"
           "  paretoctl graph --model vgg16 --format dot --output - | dot -Tpdf -o vgg16.pdf\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    {
      const Heading heading(app, "Cuts");
      drawn_.add_to(app);
      set_value(app.add_option("--splits", splits_,
                               "cuts in the table next to the picture, as --splits of splits takes "
                               "them: modules, all, auto, frontiers, or by name"),
                "LIST", {"modules", "all", "auto", "frontiers", "@cuts"})
          ->capture_default_str();
    }
    add_picture_to(app);
    add_figures_to(app);
    add_results_to(app);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before the picture was drawn");
    PARETO_TRY(check_flags());
    PARETO_ASSIGN(const auto named, parse_named_batches(named_batch_));
    PARETO_ASSIGN(const Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named));
    options_.batch = batches.front();
    const std::string output = output_path();
    if (output != kPictureOnStdout) PARETO_TRY(check_writable("--output", output));
    if (!csv_.empty()) PARETO_TRY(check_writable("--csv", csv_));
    auto candidates = planning::select_cuts(model, splits_);
    // A model that cannot be cut has a picture all the same, without a table.
    if (!candidates && splits_ == kUsualSplits && candidates.error().code == ErrorCode::kNotFound) {
      candidates = std::vector<model::Cut>();
    }
    PARETO_TRY(candidates);
    PARETO_ASSIGN(std::vector<ShownCut> cuts, show_cuts(model, *candidates, options_.batch));
    PARETO_TRY(add_figures(context, model, cuts));
    PARETO_ASSIGN(const auto drawn, drawn_.find(model, options_.batch));
    for (const model::Cut& cut : drawn) options_.cuts.push_back({cut.name, cut.before});
    PARETO_ASSIGN(const report::graph::GraphPicture picture,
                  report::graph::picture_of(model.graph(), options_));
    PARETO_ASSIGN(const std::string bytes, draw(context, model, picture, cuts));
    if (output == kPictureOnStdout) {
      context.out << bytes;
    } else {
      PARETO_TRY(with_context(write_file_atomically(output, bytes), "writing --output"));
    }
    if (!csv_.empty()) {
      PARETO_TRY(
          with_context(write_file_atomically(csv_, to_csv(model.graph(), cuts)), "writing --csv"));
    }
    if (output != kPictureOnStdout) print(context, model, picture, cuts, output);
    return kExitDone;
  }

 private:
  void add_picture_to(CLI::App& app) {
    const Heading heading(app, "Picture");
    app.add_option("--view", view_, "unit that a card stands for")
        ->check(CLI::IsMember({"modules", "operators"}))
        ->capture_default_str();
    set_value(app.add_option("--depth", options_.depth,
                             "modules: the depth at which a module is one card (default: as deep "
                             "as there are few cards); operators: the depth to which modules are "
                             "framed (default: all)"),
              "N")
        ->check(CLI::Range(1, 32).description(""));
    set_value(app.add_option("--heat", heat_name_,
                             "colour cards by: " + join(report::graph::heat_names()) +
                                 " (default: time, if --time or --profiled gives it)"),
              "NAME", report::graph::heat_names());
    format_option_ =
        app.add_option("--format", format_, "format of the picture; html is one offline page")
            ->check(CLI::IsMember(picture_formats()))
            ->capture_default_str();
    set_value(app.add_option("--output", output_,
                             "file to write the picture to, or - for stdout (default: the model's "
                             "name and the format's); its ending chooses the format"),
              "FILE");
    set_value(app.add_option("--graphviz", graphviz_.program,
                             "program that lays it out; --format dot does without"),
              "FILE")
        ->capture_default_str();
    set_value(app.add_option("--browser", browser_.program,
                             "program that draws a png (default: chromium, or google-chrome)"),
              "FILE");
  }

  void add_figures_to(CLI::App& app) {
    const Heading heading(app, "Figures");
    set_value(
        app.add_option("--batch", named_batch_,
                       "batch size that bytes are given for (default: 1, or that of --input)"),
        "N")
        ->check(check_one_value);
    auto* time = app.add_flag("--time", time_,
                              "measure the time of each operator, on one thread of the plain "
                              "engine here");
    set_value(app.add_option("--profiled", profiled_,
                             "take times from a device that was profiled (paretoctl profile; "
                             "default: any)"),
              "DEVICE")
        ->expected(0, 1)
        ->default_str("")
        ->excludes(time);
    store_.add_to(app);
  }

  void add_results_to(CLI::App& app) {
    const Heading heading(app, "Results");
    set_value(app.add_option("--csv", csv_, "file to write the table of cuts to, as CSV"), "FILE");
    add_json(app, json_);
  }

  /// Settles the format, the view and the heat.
  Expected<> check_flags() {
    options_.view = view_ == "modules" ? report::graph::PictureView::kModules
                                       : report::graph::PictureView::kOperators;
    std::string ending = std::filesystem::path(output_).extension().string();
    if (!ending.empty()) ending.erase(0, 1);
    const bool is_format = std::ranges::find(kPictureFormats, ending) != std::end(kPictureFormats);
    if (is_format && format_option_->count() == 0) format_ = ending;
    if (is_format && ending != format_) {
      return fail(ErrorCode::kInvalidArgument,
                  "--output {} with --format {}: the name ends with another format", output_,
                  format_);
    }
    if (!is_format && !ending.empty() && format_option_->count() == 0) {
      return fail(ErrorCode::kInvalidArgument,
                  "--output {}: .{} is no format of a picture; there are {}. A file of that name "
                  "needs --format",
                  output_, ending, join(picture_formats()));
    }
    if (json_ && output_ == kPictureOnStdout) {
      return fail(ErrorCode::kInvalidArgument,
                  "--json with --output -: both would go to stdout; name a file");
    }
    const bool has_times = time_ || profiled_;
    if (heat_name_.empty()) heat_name_ = has_times ? "time" : "none";
    PARETO_ASSIGN(heat_, with_context(report::graph::parse_heat(heat_name_), "--heat"));
    if (heat_ == report::graph::Heat::kTime && !has_times) {
      return fail(ErrorCode::kInvalidArgument,
                  "--heat time: there are no times; measure them here with --time, or take those "
                  "of a device with --profiled");
    }
    return {};
  }

  /// Returns the file that is written: "resnet18.html" in this folder, if none is named.
  std::string output_path() const {
    if (!output_.empty()) return output_;
    return std::filesystem::path(model_.model).stem().string() + "." + format_;
  }

  Expected<> add_figures(Context& context, const Model& model, std::vector<ShownCut>& cuts) {
    if (time_) {
      const SlowOpening slow(context.err, "measuring the time of each operator");
      PARETO_ASSIGN(options_.times_ms, time_operators(model, options_.batch));
      options_.timed_on = "this machine";
      add_times(options_.times_ms, cuts);
    }
    if (!profiled_) return {};
    // The parser writes {} if no name follows.
    const std::string device = *profiled_ == "{}" ? "" : *profiled_;
    PARETO_ASSIGN(const auto store, store_.open_profiles(context, "--profiled"));
    PARETO_ASSIGN(const plan::DeviceProfile profile,
                  profile_on(model, options_.batch, *store, device));
    for (const Nanoseconds time : profile.operators) {
      options_.times_ms.push_back(to_milliseconds(time));
    }
    options_.timed_on = profile.device;
    return add_profiled(model, options_.batch, *store, cuts);
  }

  Expected<std::string> draw(Context& context, const Model& model,
                             const report::graph::GraphPicture& picture,
                             const std::vector<ShownCut>& cuts) {
    if (format_ == "dot") return report::graph::picture_dot(picture, heat_);
    // From here on programs of others are at work, and end with this one.
    context.stop.announce("stopping: the picture is not drawn");
    graphviz_.stop = context.stop.descriptor();
    std::optional<report::graph::PictureLayout> layout;
    {
      const SlowOpening slow(context.err,
                             fmt::format("laying out {}", counted(picture.nodes.size(), "card")));
      PARETO_ASSIGN(layout, report::graph::lay_out(picture, heat_, graphviz_));
    }
    if (format_ == "html") {
      return report::graph::picture_page(picture, *layout, heat_, table_of_page(model, cuts));
    }
    const std::string svg = report::graph::picture_svg(picture, *layout, heat_);
    if (format_ == "svg") return svg;
    report::Browser browser = browser_;
    browser.stop = context.stop.descriptor();
    double scale = 0;
    const SlowOpening slow(context.err, "drawing the picture");
    PARETO_ASSIGN(std::string png, with_context(report::graph::picture_png(svg, browser, scale),
                                                "drawing the picture"));
    if (scale < 1) {
      context.err << fmt::format(
          "the picture is {:.0f} % of its size, because a side has at most {} pixels: --format svg "
          "or html keeps it, and --depth makes it smaller\n",
          100 * scale, report::graph::kMostPixels);
    }
    return png;
  }

  /// Returns what the sides of a cut take where the cards' times were measured.
  std::array<std::optional<double>, 2> times_of(const ShownCut& cut) const {
    for (const ProfiledSides& sides : cut.profiled) {
      if (sides.device == options_.timed_on) return {sides.ms_before, sides.ms_after};
    }
    return {cut.ms_before, cut.ms_after};
  }

  /// Returns the table of the page: shares of the work before each cut, and below its name what
  /// crosses it.
  report::graph::CandidateTable table_of_page(const Model& model,
                                              const std::vector<ShownCut>& cuts) const {
    using report::Align;
    const auto share = [](double before, double after) {
      const double sum = before + after;
      return sum > 0 ? fmt::format("{:.1f} %", 100 * before / sum) : std::string("–");
    };
    report::graph::CandidateTable table;
    table.cells.columns = {{"cut"},
                           {"crosses", Align::kRight},
                           {"FLOPs before", Align::kRight},
                           {"parameters before", Align::kRight},
                           {"ms before", Align::kRight},
                           {"ms after", Align::kRight}};
    for (const ShownCut& one : cuts) {
      const auto& [before, after] = std::tie(one.figures.before, one.figures.after);
      std::vector<std::string> crosses;
      for (const std::int64_t value : one.figures.live) {
        crosses.push_back(
            report::graph::value_text(model.graph().values[static_cast<std::size_t>(value)].spec));
      }
      std::vector<std::string> cells{
          one.cut.name, format_bytes(one.figures.bytes), share(before.flops, after.flops),
          share(static_cast<double>(before.parameters), static_cast<double>(after.parameters))};
      for (const auto& time : times_of(one)) {
        cells.push_back(time ? report::format_figure(*time) : "");
      }
      table.cells.rows.push_back(
          {.cells = std::move(cells),
           .note = report::graph::shortened(join(crosses, ", "), kMostShownValues)});
      table.candidates.push_back(
          {.cut = {one.cut.name, one.cut.before}, .crosses = std::move(crosses)});
    }
    return table;
  }

  void print(Context& context, const Model& model, const report::graph::GraphPicture& picture,
             const std::vector<ShownCut>& cuts, const std::string& output) const {
    if (json_) {
      nlohmann::ordered_json json{{"model", model.name()},
                                  {"batch", options_.batch},
                                  {"view", view_},
                                  {"depth", picture.depth},
                                  {"format", format_},
                                  {"file", output},
                                  {"operators", picture.operators},
                                  {"cards", picture.nodes.size()},
                                  {"edges", picture.edges.size()}};
      json["drawn"] = nlohmann::ordered_json::array();
      for (const report::graph::PictureCut& cut : options_.cuts) json["drawn"].push_back(cut.name);
      json["splits"] = to_json(model.graph(), cuts);
      context.out << dump(json, 2) << '\n';
    } else {
      context.out << table_of(model.graph(), cuts, true).render(style_of(context))
                  << fmt::format("\n{}: {} on {}{}\n", model.name(),
                                 counted(picture.operators, "operator"),
                                 counted(picture.nodes.size(), "card"), depth_text(picture));
    }
    context.err << "picture: " << output << '\n';
  }

  std::string depth_text(const report::graph::GraphPicture& picture) const {
    return options_.view == report::graph::PictureView::kModules
               ? fmt::format(", modules of depth {}; bytes at batch {}", picture.depth,
                             options_.batch)
               : fmt::format("; bytes at batch {}", options_.batch);
  }

  ModelFlags model_;
  RunCuts drawn_;
  StoreFlags store_;
  std::string splits_ = kUsualSplits;
  std::string view_ = "modules";
  std::string format_ = "html";
  CLI::Option* format_option_ = nullptr;
  std::string output_;
  std::string heat_name_;
  report::graph::Heat heat_ = report::graph::Heat::kNone;
  report::graph::Graphviz graphviz_;
  report::Browser browser_;
  report::graph::GraphPictureOptions options_;
  std::string named_batch_;
  std::optional<std::string> profiled_;
  std::string csv_;
  bool time_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_graph_command() { return std::make_unique<GraphCommand>(); }

}  // namespace pareto::client::commands
