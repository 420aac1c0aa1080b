#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "client/cluster/daemon_client.h"
#include "client/cluster/network.h"
#include "client/commands/commands.h"
#include "client/commands/planning.h"
#include "client/commands/show.h"
#include "client/planning/choose.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "partitioner/search/search_strategy.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;
using partitioner::CostInputs;
using partitioner::Evaluation;
using partitioner::FrontPoint;
using partitioner::OperatingPoint;
using partitioner::Placement;

/// A plan that was looked at by itself: one or two devices in the cluster's order.
struct Candidate {
  Placement placement;
  Evaluation evaluation;
};

/// What was asked for, by the places of devices in the cluster.
struct Constraints {
  std::map<std::size_t, std::int64_t> memory;  ///< bytes that stages may take
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
};

/// What was found under one condition of the network.
struct Outlook {
  std::string condition;
  CostInputs inputs;
  std::vector<FrontPoint> front;
  std::vector<Candidate> candidates;
  std::optional<std::size_t> chosen;  ///< of the front
};

class PlanCommand final : public Command {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "predict the Pareto front from profiles and probes, without running requests";
  }
  std::string_view examples() const override {
    return "  paretoctl plan --model mobilenetv2\n"
           "  paretoctl plan --model resnet50 --devices inventory.yaml --max-latency 50ms "
           "--prefer throughput --save plan.json\n"
           "  paretoctl plan --model inceptionv3 --devices inventory.yaml --max-memory "
           "pi-1=256MiB,pi-2=256MiB\n"
           "  sudo paretoctl plan --model mobilenetv2 --testbed two-pi4 --network "
           "none,configs/network/lte.yaml --all\n"
           "  paretoctl run --plan plan.json --devices inventory.yaml\n";
  }
  void add_options(CLI::App& app) override {
    flags_.add_to(app);
    app.add_option("--network", networks_,
                   "conditions of the network between devices, as sweep's; a front for each")
        ->capture_default_str();
    app.add_option("--max-latency", max_latency_, "of the chosen plan: 50ms");
    app.add_option("--min-throughput", limits_.samples_per_s, "of the chosen plan, in samples/s");
    app.add_option("--max-memory", max_memory_,
                   "what stages may take on a device: pi-1=256MiB, several separated by commas");
    app.add_option("--first", first_, "the device that has to run the first stage");
    app.add_option("--last", last_, "the device that has to run the last stage");
    app.add_option("--prefer", prefer_,
                   "what the chosen plan is best in: balanced, latency, throughput")
        ->capture_default_str();
    app.add_option("--search", search_, "exact, or exhaustive for small models")
        ->capture_default_str();
    app.add_flag("--all", all_, "every plan of one or two devices too, and which plan beats it");
    app.add_option("--save", save_, "write the chosen plan to this file, for run and sweep");
    app.add_flag("--json", json_, "one JSON document on stdout");
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(preference_, parse_preference(prefer_));
    if (!max_latency_.empty()) {
      PARETO_ASSIGN(const Nanoseconds latency,
                    with_context(parse_duration(max_latency_), "--max-latency"));
      limits_.latency_ms = to_milliseconds(latency);
    }
    PARETO_ASSIGN(const auto* search, partitioner::find_search(search_));
    PARETO_ASSIGN(const std::vector<NamedCondition> conditions, read_conditions(networks_));
    PARETO_ASSIGN(const auto session, PlanningSession::open(context, flags_, conditions));
    PARETO_ASSIGN(const Constraints constraints, read_constraints(session->cluster()));
    PARETO_TRY(session->profile(context));
    std::vector<Outlook> outlooks;
    for (const std::string& network : split_list(networks_)) {
      Outlook outlook;
      outlook.condition = condition_name(network);
      PARETO_ASSIGN(const ProbedLinks links, session->probe(context, outlook.condition));
      PARETO_ASSIGN(outlook.inputs, session->planner().cost_inputs(links));
      constrain(constraints, outlook.inputs);
      PARETO_ASSIGN(outlook.front, search->search(outlook.inputs, {}));
      // A plan file has one device for each stage.
      std::erase_if(outlook.front,
                    [](const FrontPoint& point) { return point.placement.replicated; });
      if (all_) outlook.candidates = candidates(outlook.inputs);
      outlook.chosen = choose_plan(outlook.front, limits_, preference_, flags_.batch);
      outlooks.push_back(std::move(outlook));
    }
    PARETO_TRY(save(*session, outlooks));
    if (json_) {
      context.out << to_json(*session, outlooks).dump(2) << '\n';
    } else {
      for (const Outlook& outlook : outlooks) print(context, *session, outlook);
    }
    const bool all_chosen =
        std::ranges::all_of(outlooks, [](const Outlook& one) { return one.chosen.has_value(); });
    return all_chosen ? kExitDone : kExitFailed;
  }

 private:
  Expected<Constraints> read_constraints(const Cluster& cluster) const {
    const auto find = [&](const std::string& name) -> Expected<std::size_t> {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < cluster.size(); ++i) {
        names.push_back(cluster.device(i).config().name);
        if (names.back() == name) return i;
      }
      return fail(ErrorCode::kNotFound, "no device \"{}\"{}", name, did_you_mean(name, names));
    };
    Constraints constraints;
    for (const std::string& limit : split_list(max_memory_)) {
      const auto equals = limit.find('=');
      if (equals == std::string::npos) {
        return fail(ErrorCode::kInvalidArgument, "--max-memory {}: DEVICE=SIZE, as pi-1=256MiB",
                    limit);
      }
      PARETO_ASSIGN(const std::size_t device,
                    with_context(find(limit.substr(0, equals)), "--max-memory"));
      PARETO_ASSIGN(const std::uint64_t bytes,
                    with_context(parse_bytes(limit.substr(equals + 1)), "--max-memory"));
      constraints.memory[device] =
          static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX));
    }
    if (!first_.empty()) {
      PARETO_ASSIGN(constraints.first, with_context(find(first_), "--first"));
    }
    if (!last_.empty()) {
      PARETO_ASSIGN(constraints.last, with_context(find(last_), "--last"));
    }
    return constraints;
  }

  static void constrain(const Constraints& constraints, CostInputs& inputs) {
    for (std::size_t i = 0; i < inputs.devices.size(); ++i) {
      partitioner::DeviceCosts& device = inputs.devices[i];
      const auto limit = constraints.memory.find(i);
      if (limit != constraints.memory.end()) {
        device.memory_limit_bytes = std::min(device.memory_limit_bytes, limit->second);
      }
      device.may_be_first = !constraints.first || *constraints.first == i;
      device.may_be_last = !constraints.last || *constraints.last == i;
    }
  }

  /// Every plan of one device, and of two in the cluster's order.
  static std::vector<Candidate> candidates(const CostInputs& inputs) {
    std::vector<Candidate> found;
    const auto add = [&](std::vector<partitioner::PlacedStage> stages) {
      Placement placement{std::move(stages)};
      if (const auto evaluation = partitioner::evaluate(inputs, placement)) {
        found.push_back({std::move(placement), *evaluation});
      }
    };
    const int devices = static_cast<int>(inputs.devices.size());
    for (int first = 0; first < devices; ++first) {
      for (int second = first + 1; second < devices; ++second) {
        for (int cut = 1; cut < inputs.positions(); ++cut) {
          add({{first, 0, cut}, {second, cut, inputs.positions()}});
        }
      }
    }
    for (int device = 0; device < devices; ++device) add({{device, 0, inputs.positions()}});
    return found;
  }

  static Plan plan_of(const PlanningSession& session, const Placement& placement, int window) {
    return session.planner().plan_of(placement, session.transport(), window);
  }

  static std::string name_of(const Plan& plan) {
    if (plan.splits.empty()) return "all on " + plan.stages.front().device;
    return join(plan.splits, " + ");
  }
  static std::string devices_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const StagePlan& stage : plan.stages) names.push_back(stage.device);
    return join(names, " > ");
  }

  Expected<> save(const PlanningSession& session, const std::vector<Outlook>& outlooks) const {
    if (save_.empty()) return {};
    if (outlooks.size() != 1) {
      return fail(ErrorCode::kInvalidArgument, "--save takes one plan: name one --network, not {}",
                  outlooks.size());
    }
    const Outlook& outlook = outlooks.front();
    if (!outlook.chosen) {
      return fail(ErrorCode::kNotFound, "--save: no plan keeps the limits asked for");
    }
    const FrontPoint& chosen = outlook.front[*outlook.chosen];
    return write_file_atomically(
        save_, pareto::to_json(plan_of(session, chosen.placement, chosen.point.window)) + "\n");
  }

  void print(Context& context, const PlanningSession& session, const Outlook& outlook) const {
    const auto batch = static_cast<double>(flags_.batch);
    const auto columns = [](bool with_beaten) {
      std::vector<TextColumn> all{{""},
                                  {"plan"},
                                  {"devices"},
                                  {"ms", Align::kRight},
                                  {"samples/s", Align::kRight},
                                  {"W", Align::kRight},
                                  {"bottleneck", Align::kRight, 1},
                                  {"memory", Align::kRight, 2}};
      if (with_beaten) all.push_back({"beaten by"});
      return all;
    };
    const auto cells = [&](const Plan& plan, const OperatingPoint& point, const Evaluation& of) {
      return std::vector<std::string>{
          "",
          name_of(plan),
          devices_of(plan),
          format_figure(to_milliseconds(point.latency)),
          format_figure(batch * point.throughput_per_s()),
          std::to_string(point.window),
          format_figure(to_milliseconds(of.bottleneck)),
          format_bytes(static_cast<std::uint64_t>(of.peak_memory_bytes))};
    };
    context.out << fmt::format("Predicted Pareto front, {}, batch {}{} (W: requests in flight)\n",
                               session.transport(), flags_.batch,
                               outlook.condition == "none" ? "" : ", " + outlook.condition);
    TextTable front(columns(false));
    for (std::size_t i = 0; i < outlook.front.size(); ++i) {
      const FrontPoint& point = outlook.front[i];
      auto row = cells(plan_of(session, point.placement, point.point.window), point.point,
                       point.evaluation);
      row.front() = outlook.chosen == i ? "*" : "";
      front.add(std::move(row), outlook.chosen == i ? RowStyle::kStrong : RowStyle::kPlain);
    }
    context.out << front.render(style_of(context)) << '\n';
    if (!outlook.chosen) {
      context.out << "No plan keeps the limits asked for.\n\n";
    } else {
      context.out << "* " << prefer_ << ": the plan to take\n\n";
    }
    if (outlook.candidates.empty()) return;
    TextTable table(columns(true));
    for (const Candidate& candidate : outlook.candidates) {
      for (const OperatingPoint& point : partitioner::operating_points(candidate.evaluation, {})) {
        auto row =
            cells(plan_of(session, candidate.placement, point.window), point, candidate.evaluation);
        const auto better = beaten_by(outlook.front, point);
        row.push_back(better ? name_of(plan_of(session, outlook.front[*better].placement, 1)) : "");
        table.add(std::move(row), better ? RowStyle::kFaint : RowStyle::kPlain);
      }
    }
    context.out << "Every plan of one or two devices\n" << table.render(style_of(context)) << '\n';
  }

  Json to_json(const PlanningSession& session, const std::vector<Outlook>& outlooks) const {
    const auto batch = static_cast<double>(flags_.batch);
    const auto row = [&](const Placement& placement, const OperatingPoint& point,
                         const Evaluation& of) {
      return Json{{"plan", Json::parse(pareto::to_json(plan_of(session, placement, point.window)))},
                  {"latency_ms", to_milliseconds(point.latency)},
                  {"samples_per_s", batch * point.throughput_per_s()},
                  {"window", point.window},
                  {"unloaded_latency_ms", to_milliseconds(of.latency)},
                  {"bottleneck_ms", to_milliseconds(of.bottleneck)},
                  {"peak_memory_bytes", of.peak_memory_bytes},
                  {"boundary_bytes", of.boundary_bytes}};
    };
    Json json{{"model", session.model().name()},
              {"transport", session.transport()},
              {"batch", flags_.batch},
              {"networks", Json::array()}};
    for (const Outlook& outlook : outlooks) {
      Json one{{"condition", outlook.condition}, {"front", Json::array()}, {"chosen", nullptr}};
      for (const FrontPoint& point : outlook.front) {
        one["front"].push_back(row(point.placement, point.point, point.evaluation));
      }
      if (outlook.chosen) one["chosen"] = *outlook.chosen;
      if (all_) one["plans"] = Json::array();
      for (const Candidate& candidate : outlook.candidates) {
        const OperatingPoint alone = partitioner::at_window(candidate.evaluation, 1);
        Json plan = row(candidate.placement, alone, candidate.evaluation);
        plan["samples_per_s"] =
            batch * 1e9 / static_cast<double>(candidate.evaluation.bottleneck.count());
        plan.erase("window");
        one["plans"].push_back(std::move(plan));
      }
      json["networks"].push_back(std::move(one));
    }
    return json;
  }

  PlanningFlags flags_;
  std::string networks_ = "none";
  std::string max_latency_;
  std::string max_memory_;
  std::string first_;
  std::string last_;
  std::string prefer_ = "balanced";
  std::string search_ = "exact";
  std::string save_;
  bool all_ = false;
  bool json_ = false;
  Limits limits_;
  Preference preference_ = Preference::kBalanced;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace pareto::client
