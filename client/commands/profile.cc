#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/cluster/daemon_client.h"
#include "client/commands/commands.h"
#include "client/commands/planning.h"
#include "client/commands/show.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/text.h"
#include "core/plan/json_text.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

class ProfileCommand final : public Command {
 public:
  std::string_view name() const override { return "profile"; }
  std::string_view summary() const override {
    return "time a model on each device, cut by cut, and the links between them; kept for plan";
  }
  std::string_view examples() const override {
    return "  paretoctl profile --model mobilenetv2\n"
           "  paretoctl profile --model resnet50 --devices inventory.yaml --batch 8\n"
           "  paretoctl profile --model inceptionv3 --devices inventory.yaml --splits all "
           "--measured-cuts 0 --fresh\n";
  }
  void add_options(CLI::App& app) override {
    flags_.add_to(app);
    app.add_flag("--json", json_, "one JSON document on stdout");
  }

  Expected<int> run(Context& context) override {
    PARETO_ASSIGN(const auto session, PlanningSession::open(context, flags_, {}));
    PARETO_TRY(session->profile(context));
    PARETO_ASSIGN(const auto links,
                  session->probe(context, resting_condition(session->cluster().network())));
    PARETO_ASSIGN(const partitioner::CostInputs inputs, session->planner().cost_inputs(links));
    if (json_) {
      context.out << dump(to_json(*session, links), 2) << '\n';
    } else {
      print_times(context, *session, inputs);
      for (const ProbedTransport& probed : links) print_links(context, *session, probed);
    }
    return kExitDone;
  }

 private:
  static std::string end_name(const PlanningSession& session, std::size_t end) {
    return end == session.cluster().size() ? "coordinator"
                                           : session.cluster().device(end).config().name;
  }

  /// In ms, where there is room for such a stage.
  static std::string time_of(const partitioner::DeviceCosts& device, int begin, int end) {
    const std::int64_t bytes = partitioner::stage_memory_bytes(device, begin, end);
    if (bytes > device.memory_limit_bytes) return "no room";
    return format_figure(to_milliseconds(device.time(begin, end)));
  }

  /// What each side of each cut takes on each device.
  void print_times(Context& context, const PlanningSession& session,
                   const partitioner::CostInputs& inputs) const {
    std::vector<TextColumn> columns{{"cut"}, {"bytes", Align::kRight}};
    for (const partitioner::DeviceCosts& device : inputs.devices) {
      columns.push_back({device.name + ": ms before", Align::kRight});
      columns.push_back({"after", Align::kRight});
    }
    TextTable table(columns);
    const int end = inputs.positions();
    for (int position = 0; position <= end; ++position) {
      if (position == 0) continue;
      const bool whole = position == end;
      const std::string name =
          whole ? "the whole model"
                : session.model()
                      .split_points()[session.planner()
                                          .splits()[static_cast<std::size_t>(position) - 1]]
                      .name;
      std::vector<std::string> row{
          name, whole ? "" : format_bytes(static_cast<std::uint64_t>(inputs.boundary(position)))};
      for (const partitioner::DeviceCosts& device : inputs.devices) {
        row.push_back(time_of(device, 0, position));
        row.push_back(whole ? "" : time_of(device, position, end));
      }
      table.add(std::move(row), whole ? RowStyle::kStrong : RowStyle::kPlain);
    }
    context.out << fmt::format("{}, batch {}, {} {}\n", session.model().name(), flags_.batch,
                               flags_.runner.engine, flags_.runner.precision)
                << table.render(style_of(context)) << '\n';
    const bool now = session.planner().measured_now();
    for (const DeviceFacts& device : session.planner().devices()) {
      context.out << fmt::format("{}: {}\n", device.profile.device,
                                 now ? "measured now" : "as measured " + device.profile.measured);
    }
    context.out << '\n';
  }

  static void print_links(Context& context, const PlanningSession& session,
                          const ProbedTransport& probed) {
    const ProbedLinks& links = probed.links;
    TextTable table({{"link"},
                     {"bytes", Align::kRight},
                     {"round trip ms", Align::kRight},
                     {"alone ms", Align::kRight},
                     {"each of many ms", Align::kRight},
                     {"cpu send ms", Align::kRight, 1},
                     {"receive ms", Align::kRight, 1}});
    for (std::size_t from = 0; from < links.size(); ++from) {
      for (std::size_t to = 0; to < links.size(); ++to) {
        for (const transport::ProbePoint& point : links[from][to].points) {
          const bool first = &point == links[from][to].points.data();
          table.add({first ? end_name(session, from) + " > " + end_name(session, to) : "",
                     format_bytes(point.bytes),
                     first ? format_figure(to_milliseconds(links[from][to].round_trip)) : "",
                     format_figure(to_milliseconds(point.crossing)),
                     format_figure(to_milliseconds(point.interval)),
                     format_figure(to_milliseconds(point.send_cpu)),
                     format_figure(to_milliseconds(point.receive_cpu))});
        }
      }
    }
    context.out << "Links, " << probed.name << '\n' << table.render(style_of(context));
  }

  static Json to_json(const PlanningSession& session, const std::vector<ProbedTransport>& probed) {
    Json json{{"devices", Json::array()},
              {"transports", names_in(session.transports())},
              {"links", Json::array()}};
    for (const DeviceFacts& device : session.planner().devices()) {
      json["devices"].push_back(Json::parse(pareto::to_json(device.profile)));
    }
    for (const ProbedTransport& one : probed) add_links(session, one, json["links"]);
    return json;
  }

  static void add_links(const PlanningSession& session, const ProbedTransport& probed, Json& all) {
    const ProbedLinks& links = probed.links;
    for (std::size_t from = 0; from < links.size(); ++from) {
      for (std::size_t to = 0; to < links.size(); ++to) {
        if (links[from][to].points.empty()) continue;
        Json link{{"from", end_name(session, from)},
                  {"to", end_name(session, to)},
                  {"transport", probed.name},
                  {"round_trip_ms", to_milliseconds(links[from][to].round_trip)},
                  {"points", Json::array()}};
        for (const transport::ProbePoint& point : links[from][to].points) {
          link["points"].push_back({{"bytes", point.bytes},
                                    {"crossing_ms", to_milliseconds(point.crossing)},
                                    {"interval_ms", to_milliseconds(point.interval)},
                                    {"send_cpu_ms", to_milliseconds(point.send_cpu)},
                                    {"receive_cpu_ms", to_milliseconds(point.receive_cpu)}});
        }
        all.push_back(std::move(link));
      }
    }
  }

  PlanningFlags flags_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace pareto::client
