#include "client/commands/train_plan.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/flags/inputs.h"
#include "client/flags/known_names.h"
#include "client/flags/pipeline_flags.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/cut_chains.h"
#include "coordinator/train/device_pipeline.h"
#include "coordinator/train/local_pipeline.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {

using model::Model;

namespace {

/// Returns what stands for a stage's device while it has none, or runs in this process.
std::string without_device(std::size_t stage) { return fmt::format("stage {}", stage); }

}  // namespace

std::string devices_text(const plan::Plan& plan) {
  const std::vector<std::string> names = plan.device_names();
  return names.front() == without_device(0) ? "this process" : join(names);
}

void TrainPlan::add_to(CLI::App& app) {
  model_.add_to(app, /*required=*/false);
  devices_.add_to(app, DeviceNeed::kShares,
                  "a model that is cut is trained by daemons that are started on this "
                  "machine, and one that is not in this process");
  {
    const Heading heading(app, "Plan");
    cuts_.add_to(app);
    set_value(app.add_option("--plan", plan_file_,
                             "plan file, in place of --split, --transport and --codec; its batch "
                             "and micro-batch are taken too; --model says where its model lies "
                             "now"),
              "FILE");
    set_value(app.add_option("--transport", transport_,
                             "transport of the links: tcp, grpc or shm, or one a link with '+'; "
                             "auto: shm within a machine, tcp otherwise"),
              "NAME", transport_names())
        ->capture_default_str();
    set_value(app.add_option("--codec", codec_,
                             "codec of activations between stages; one that loses something "
                             "changes what is learnt"),
              "NAME", codec_names({"none"}))
        ->capture_default_str();
    set_value(app.add_option("--gradient-codec", gradient_codec_,
                             "codec of gradients between stages, likewise"),
              "NAME", codec_names({"none"}))
        ->capture_default_str();
    set_value(app.add_option("--threads", threads_,
                             "number of threads of a stage; other numbers may give other bits "
                             "(default: 1)"),
              "N");
    add_no_checksum(app, no_checksum_);
    set_value(app.add_option("--timeout", timeout_.timeout,
                             "time without any loss, gradients or end of a step after which a "
                             "device counts as lost: one pass of a micro-batch, not all of a step "
                             "(default: 60s)"),
              "DURATION");
    app.add_flag("--in-process", in_process_,
                 "train the stages of --split in this process, one after the other, without "
                 "devices");
  }
  auto* plan = app.get_option("--plan");
  for (const char* flag : {"--split", "--frontier", "--trainable", "--transport", "--codec"}) {
    plan->excludes(app.get_option(flag));
  }
  for (const char* flag : {"--devices", "--testbed"}) {
    app.get_option("--in-process")->excludes(app.get_option(flag));
  }
}

Expected<> TrainPlan::read(Context& context, const train::TrainingSetup* earlier) {
  devices_.settle(context);
  PARETO_TRY(with_context(cluster::parse_transport_mix(transport_), "--transport {}", transport_));
  PARETO_TRY(with_context(cluster::check_codec_name(codec_), "--codec {}", codec_));
  PARETO_TRY(with_context(cluster::check_codec_name(gradient_codec_), "--gradient-codec {}",
                          gradient_codec_));
  if (codec_ == "auto" || gradient_codec_ == "auto") {
    return fail(ErrorCode::kInvalidArgument,
                "--{} auto: name one, so that a training that goes on has the same",
                codec_ == "auto" ? "codec" : "gradient-codec");
  }
  if (threads_ < 0 || threads_ > 256) {
    return fail(ErrorCode::kInvalidArgument, "--threads {}: 1 to 256", threads_);
  }
  if (!plan_file_.empty()) {
    PARETO_ASSIGN(named_, cluster::read_plan_file(plan_file_));
    has_plan_ = true;
    model_.complete(cluster::source_of(named_));
  } else if (earlier != nullptr) {
    if (!cuts_.names_any()) {
      named_ = {.name = "the checkpoint", .plan = earlier->plan};
      has_plan_ = true;
    }
    model_.complete(earlier->source);
    // The user named them when the training began.
    if (model_.operators.empty()) model_.operators = earlier->source.operators;
    if (threads_ == 0) threads_ = earlier->plan.settings.threads;
    earlier_codecs_ = earlier->plan.codecs;
    const std::string& codec = earlier->settings.gradient_codec;
    if (!codec.empty() && earlier->plan.stages.size() > 1) gradient_codec_ = codec;
  }
  if (threads_ == 0) threads_ = 1;
  if (model_.model.empty()) {
    return fail(ErrorCode::kInvalidArgument, "--model is missing (or --plan FILE, --resume DIR)");
  }
  return {};
}

Expected<Model> TrainPlan::open_model(Context& context, const train::TrainingSetup& setup,
                                      const std::vector<std::int64_t>& micro_batches) {
  const std::int64_t batch = setup.batches.batch;
  PARETO_ASSIGN(Model model, model_.open(context, micro_batches));
  if (const auto only = model.only_batch()) {
    const auto other =
        std::ranges::find_if(micro_batches, [&](std::int64_t samples) { return samples != *only; });
    if (other != micro_batches.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} runs at {} samples only, and a micro-batch would have {}: choose --batch and "
                  "--micro-batches for it, and --drop-last",
                  model.name(), *only, *other);
    }
  }
  if (has_plan_) {
    plan_ = named_.plan;
    if (plan_.replicated) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} has replicas: a training takes a plan of one pipeline", named_.name);
    }
  } else {
    PARETO_ASSIGN(const std::vector<model::Cut> cuts,
                  cuts_.find(model, batch, {.trainable = true, .frozen = setup.settings.frozen}));
    PARETO_TRY(place(model, cuts, batch));
  }
  PARETO_TRY(check_codecs());
  // Those of an earlier training suited the devices that it had.
  if (plan_file_.empty()) PARETO_TRY(set_transports());
  plan_.model = model_.model;
  plan_.batch = batch;
  plan_.micro_batch = 0;
  plan_.settings = {};
  plan_.settings.threads = threads_;
  for (plan::StagePlan& stage : plan_.stages) stage.settings.reset();
  return model;
}

Expected<> TrainPlan::place(const Model& model, const std::vector<model::Cut>& cuts,
                            std::int64_t batch) {
  // Their names follow once devices are there.
  std::vector<std::string> devices;
  for (std::size_t i = 0; i <= cuts.size(); ++i) devices.push_back(without_device(i));
  PARETO_ASSIGN(plan_, with_context(sweep::plan_of_cuts(model, cuts, devices, batch, {}),
                                    "--split {}", cuts_.text()));
  if (codec_ != "none") plan_.codecs.assign(cuts.size(), codec_);
  if (earlier_codecs_.size() == cuts.size()) plan_.codecs = earlier_codecs_;
  return {};
}

Expected<> TrainPlan::set_transports() {
  PARETO_ASSIGN(const auto mix, cluster::parse_transport_mix(transport_));
  auto transports = cluster::fit_transports(mix, plan_.links());
  if (!transports) {
    return fail(ErrorCode::kInvalidArgument, "--transport {}: {} transports for {} links",
                transport_, mix.size(), plan_.links());
  }
  plan_.set_transports(*std::move(transports));
  return {};
}

Expected<> TrainPlan::check_codecs() const {
  const bool is_cut = plan_.stages.size() > 1;
  if (is_cut && !in_process_) return {};
  const auto refuse = [&](const std::string& codec) {
    return fail(ErrorCode::kInvalidArgument, "{} does not go with {}: nothing crosses a link there",
                codec, is_cut ? "--in-process" : "a model that is not cut");
  };
  if (codec_ != "none") return refuse("--codec " + codec_);
  if (gradient_codec_ != "none") return refuse("--gradient-codec " + gradient_codec_);
  const std::string codecs = cluster::codec_text(plan_.codecs);
  return codecs == "none" ? Expected<>()
                          : refuse(fmt::format("codec {} of {}", codecs, named_.name));
}

bool TrainPlan::is_local() const {
  if (in_process_) return true;
  return plan_.stages.size() == 1 && devices_.inventory.empty() && devices_.testbed.empty();
}

Expected<> TrainPlan::place_on(const cluster::Cluster& cluster) {
  const bool has_all = std::ranges::all_of(plan_.stages, [&](const plan::StagePlan& stage) {
    return cluster.find(stage.device).has_value();
  });
  if (has_all) return {};
  if (has_plan_ && !plan_file_.empty()) {
    for (const plan::StagePlan& stage : plan_.stages) PARETO_TRY(cluster.find(stage.device));
  }
  if (cluster.size() < plan_.stages.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} stages, and {} devices: name more, or cut less",
                plan_.stages.size(), cluster.size());
  }
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    plan_.stages[i].device = cluster.device(i).config().name;
  }
  return {};
}

Expected<OpenTraining> TrainPlan::open_pipeline(Context& context, const Model& model,
                                                const Model& loss, train::TrainingSetup& setup,
                                                const std::vector<plan::StateTensor>& state) {
  if (gradient_codec_ != "none") setup.settings.gradient_codec = gradient_codec_;
  OpenTraining open;
  if (is_local()) {
    PARETO_ASSIGN(open.pipeline,
                  train::open_local_pipeline(model, loss, plan_, setup.settings, state, threads_));
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
      plan_.stages[i].device = without_device(i);
    }
    setup.plan = plan_;
    return open;
  }
  train::DevicePipelineOptions options;
  options.deployment.payload_checksum = !no_checksum_;
  options.gradient_codec = setup.settings.gradient_codec;
  if (timeout_.timeout) {
    PARETO_ASSIGN(options.timeout, timeout_.read());
  }
  const std::size_t stages = plan_.stages.size();
  const NeededDevices needed = plan_file_.empty() ? NeededDevices{.first = stages}
                                                  : NeededDevices{.names = plan_.device_names()};
  PARETO_ASSIGN(open.cluster, devices_.connect(context, static_cast<int>(stages), {}, needed));
  PARETO_TRY(place_on(*open.cluster));
  PARETO_ASSIGN(plan_, cluster::with_transports_named(plan_, *open.cluster));
  setup.plan = plan_;
  open.workload = std::make_unique<cluster::ModelWorkload>(model);
  open.transports = std::make_unique<cluster::TransportSet>();
  open.pool = std::make_unique<cluster::ShardPool>(*open.workload);
  PARETO_ASSIGN(open.pipeline,
                train::DevicePipeline::open(model, loss, plan_, setup.settings, state,
                                            *open.cluster, *open.pool, *open.transports, options));
  return open;
}

}  // namespace pareto::client::commands
