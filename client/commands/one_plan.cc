#include "client/commands/one_plan.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/commands/best_cut.h"
#include "client/commands/validation.h"
#include "client/flags/inputs.h"
#include "client/flags/number_flags.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/cut_chains.h"
#include "core/base/usage.h"

namespace pareto::client::commands {

using model::Model;

void OnePlan::add_to(CLI::App& app) {
  model_.add_to(app, /*required=*/false);
  devices_.add_to(app);
  runner_.add_to(app);
  add_plan_to(app);
  pipeline_.add_to(app);
  store_.add_to(app);
  auto* plan = app.get_option("--plan");
  for (const char* flag : {"--split", "--frontier", "--trainable", "--transport", "--codec",
                           "--micro-batch", "--window", "--batch", "--engine", "--precision",
                           "--max-error", "--threads", "--schedule"}) {
    plan->excludes(app.get_option(flag));
  }
}

void OnePlan::add_plan_to(CLI::App& app) {
  const Heading heading(app, "Plan");
  cuts_.add_to(app);
  set_value(
      app.add_option("--batch", batch_,
                     fmt::format("batch size (default: {}, or that of --input)", usual_batch_)),
      "N")
      ->check(check_one_value);
  set_value(app.add_option("--plan", plan_file_,
                           "plan file, in place of --split, --transport, --window and such; "
                           "--model says where its model lies now"),
            "FILE");
}

Expected<> OnePlan::read() {
  PARETO_TRY(check_codec_error(pipeline_.codec_error));
  if (!plan_file_.empty()) return read_file();
  if (model_.model.empty())
    return fail(ErrorCode::kInvalidArgument, "--model is missing (or --plan FILE)");
  PARETO_ASSIGN(plan_.settings, runner_.settings());
  if (pipeline_.transport.find(',') != std::string::npos) {
    std::string mix = pipeline_.transport;
    std::ranges::replace(mix, ',', '+');
    return fail(ErrorCode::kInvalidArgument,
                "--transport {}: one is taken here, or one a link with '+' (--transport {}); sweep "
                "measures several",
                pipeline_.transport, mix);
  }
  PARETO_TRY(with_context(cluster::parse_transport_mix(pipeline_.transport), "--transport {}",
                          pipeline_.transport));
  PARETO_TRY(
      with_context(cluster::check_codec_name(pipeline_.codec), "--codec {}", pipeline_.codec));
  PARETO_ASSIGN(const auto micro_batches, parse_micro_batches(pipeline_.micro_batch));
  if (micro_batches.size() != 1) {
    return fail(ErrorCode::kInvalidArgument, "--micro-batch {}: one size, or none",
                pipeline_.micro_batch);
  }
  PARETO_ASSIGN(plan_.window, parse_window(pipeline_.window));
  plan_.micro_batch = micro_batches.front();
  plan_.model = model_.model;
  return {};
}

Expected<> OnePlan::read_file() {
  PARETO_ASSIGN(named_, cluster::read_plan_file(plan_file_));
  plan_ = named_.plan;
  gives_data_ = !model_.inputs.empty();
  model_.complete(cluster::source_of(named_));
  return {};
}

Expected<> OnePlan::compute_as_said() {
  PARETO_ASSIGN(plan_.settings, runner_.settings());
  for (plan::StagePlan& stage : plan_.stages) stage.settings.reset();
  return {};
}

bool OnePlan::names_pipeline() const {
  return !plan_file_.empty() || cuts_.names_any() || !devices_.inventory.empty() ||
         !devices_.testbed.empty();
}

Expected<Model> OnePlan::open_model(Context& context) {
  PARETO_ASSIGN(auto named, parse_named_batches(batch_));
  if (!plan_file_.empty()) named = {plan_.batch};
  PARETO_ASSIGN(Model model, model_.open(context, named));
  if (gives_data_) named.clear();
  PARETO_ASSIGN(const auto batches, batches_for(context, model, named, {usual_batch_}));
  plan_.batch = batches.front();
  if (plan_.micro_batch > plan_.batch && plan_file_.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--micro-batch {}: not above the batch of {}, or none",
                plan_.micro_batch, plan_.batch);
  }
  if (plan_.micro_batch > plan_.batch) plan_.micro_batch = 0;
  PARETO_TRY(check_cut(model, plan_));
  return model;
}

Expected<std::vector<model::Cut>> OnePlan::cuts(const Model& model) const {
  return plan_file_.empty() ? cuts_.find(model, plan_.batch) : cuts_of(plan_);
}

Expected<cluster::Cluster> OnePlan::connect(Context& context, const Model& model) {
  PARETO_ASSIGN(std::vector<model::Cut> cuts, cuts_.find(model, plan_.batch));
  const std::size_t stages = plan_file_.empty()
                                 ? cuts.size() + 1
                                 : std::max<std::size_t>(cluster::devices_named({named_}), 2);
  devices_.settle(context);
  PARETO_ASSIGN(cluster::Cluster cluster,
                devices_.connect(context, static_cast<int>(stages), {}, needed(stages)));
  if (plan_file_.empty()) {
    if (cuts_.is_auto()) {
      PARETO_TRY(take_best_cut(context, {model, cluster, plan_, pipeline_.transport}, cuts_, store_,
                               cuts));
    }
    PARETO_TRY(place(model, cluster, cuts));
  } else {
    PARETO_TRY(cluster::check_plan(named_, model, cluster));
  }
  return cluster;
}

NeededDevices OnePlan::needed(std::size_t stages) const {
  return plan_file_.empty() ? NeededDevices{.first = stages}
                            : NeededDevices{.names = cluster::device_names({named_})};
}

Expected<> OnePlan::place(const Model& model, const cluster::Cluster& cluster,
                          const std::vector<model::Cut>& cuts) {
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    devices.push_back(cluster.device(i).config().name);
  }
  PARETO_ASSIGN(plan::Plan cut,
                with_context(sweep::plan_of_cuts(model, cuts, devices, plan_.batch, {}),
                             "--split {}", cuts_.text()));
  plan_.splits = std::move(cut.splits);
  plan_.stages = std::move(cut.stages);
  if (pipeline_.codec != "none") plan_.codecs.assign(cuts.size(), pipeline_.codec);
  PARETO_ASSIGN(const auto mix, cluster::parse_transport_mix(pipeline_.transport));
  auto transports = cluster::fit_transports(mix, plan_.links());
  if (!transports) {
    return fail(ErrorCode::kInvalidArgument, "--transport {}: {} transports for {} links",
                pipeline_.transport, mix.size(), plan_.links());
  }
  plan_.set_transports(*std::move(transports));
  return {};
}

}  // namespace pareto::client::commands
