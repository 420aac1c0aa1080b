#include "coordinator/evaluation/evaluate.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/one_plan.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/flags/data_flags.h"
#include "client/flags/json_flag.h"
#include "client/flags/time_flags.h"
#include "client/report/accuracy_writer.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/evaluation/accuracy.h"

namespace pareto::client::commands {
namespace {

using evaluation::Evaluation;
using evaluation::SampleBatches;
using model::Model;

constexpr std::int64_t kUsualBatch = 8;

class EvaluateCommand final : public Command {
 public:
  std::string_view name() const override { return "evaluate"; }
  std::string_view summary() const override {
    return "accuracy of a model, uncut and as a pipeline, on a data set";
  }
  std::string_view examples() const override {
    return "  paretoctl evaluate --model resnet18 --weights resnet18.pth --data imagenet/val\n"
           "  paretoctl evaluate --model resnet18 --weights resnet18.pth --data imagenet/val "
           "--limit 1000 --split after:layer2 --codec int8\n"
           "  paretoctl evaluate --plan plan.json --devices inventory.yaml --data imagenet/val\n"
           "  paretoctl evaluate --model small.pt --input-shape 3x32x32 --data cifar10:cifar "
           "--json\n";
  }
  void add_options(CLI::App& app) override {
    data_.add_to(app, /*required=*/true);
    plan_.add_to(app);
    timeout_.add_to(app);
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before all samples were answered");
    PARETO_TRY(plan_.read());
    PARETO_ASSIGN(const auto timeout, timeout_.read());
    PARETO_ASSIGN(const Model model, plan_.open_model(context));
    PARETO_ASSIGN(const evaluation::Classifier classifier, evaluation::classifier_of(model));
    PARETO_ASSIGN(const auto data, data_.open(context, classifier));
    const SampleBatches batches(*data, data_.samples(*data), plan_.plan().batch);
    report::EvaluationReport report;
    report.model = model.name();
    report.data = data->title();
    report.samples = static_cast<std::int64_t>(batches.samples());
    report.of = data->size();
    report.classes = classifier.classes;
    report.batch = batches.batch();
    std::vector<evaluation::Answer> piped;
    if (plan_.names_pipeline()) {
      PARETO_ASSIGN(const cluster::Cluster cluster, plan_.connect(context, model));
      context.phase = Phase::kRunning;
      report.pipeline.emplace();
      PARETO_ASSIGN(Evaluation answered,
                    evaluate_pipeline(context, model, cluster, batches, timeout, *report.pipeline));
      report.pipeline->figures = figures_of(answered, classifier);
      piped = std::move(answered.answers);
    }
    PARETO_ASSIGN(const Evaluation uncut, evaluate_uncut(context, model, batches));
    report.uncut = figures_of(uncut, classifier);
    if (report.pipeline) {
      report.pipeline->agreement = evaluation::agreement_of(uncut.answers, piped);
    }
    context.out << (json_ ? report::write_accuracy_json(report)
                          : report::write_accuracy_table(report, style_of(context)));
    return kExitDone;
  }

 private:
  static report::EvaluatedModel figures_of(const Evaluation& evaluation,
                                           const evaluation::Classifier& classifier) {
    return {evaluation::accuracy_of(evaluation.answers, classifier.classes), evaluation.time};
  }

  /// Shows how many samples have been answered. Threads: one owner.
  class AnswerProgress {
   public:
    AnswerProgress(Context& context, std::string what, std::size_t samples)
        : progress_(context.err, context.err_is_terminal ? context.columns : 0),
          what_(std::move(what)),
          samples_(samples) {}
    evaluation::OnAnswered observer() {
      return [this](std::size_t done) { progress_.show(done, samples_, what_, what_); };
    }

   private:
    Progress progress_;
    const std::string what_;
    const std::size_t samples_;
  };

  static Expected<Evaluation> evaluate_uncut(Context& context, const Model& model,
                                             const SampleBatches& batches) {
    AnswerProgress progress(context, "uncut model", batches.samples());
    return evaluation::evaluate_uncut(model, batches, progress.observer());
  }

  Expected<Evaluation> evaluate_pipeline(Context& context, const Model& model,
                                         const cluster::Cluster& cluster,
                                         const SampleBatches& batches,
                                         std::chrono::milliseconds timeout,
                                         report::EvaluatedPipeline& pipeline) const {
    PARETO_ASSIGN(pipeline.plan, cluster::with_transports_named(plan_.plan(), cluster));
    cluster::ModelWorkload workload(model);
    cluster::TransportSet transports;
    cluster::ShardPool pool(workload);
    cluster::CodecChooser codecs(plan_.pipeline().codec_error);
    cluster::DeploymentOptions deploying;
    deploying.codecs = &codecs;
    deploying.payload_checksum = !plan_.pipeline().no_checksum;
    PARETO_ASSIGN(
        const auto deployment,
        with_context(cluster::Deployment::open(pipeline.plan, cluster, pool, transports, deploying),
                     "deploying"));
    pipeline.plan.codecs = deployment->codecs();
    pipeline.window = evaluation::window_of(pipeline.plan);
    AnswerProgress progress(context, "pipeline", batches.samples());
    return evaluation::evaluate_pipeline(*deployment, pipeline.plan, workload, batches,
                                         {pipeline.window, timeout}, progress.observer());
  }

  DataFlags data_;
  OnePlan plan_{kUsualBatch};
  TimeoutFlag timeout_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() { return std::make_unique<EvaluateCommand>(); }

}  // namespace pareto::client::commands
