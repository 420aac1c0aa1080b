#include "coordinator/sweep/accuracy_check.h"

#include <algorithm>
#include <utility>

#include "coordinator/data/open_data_set.h"
#include "coordinator/evaluation/accuracy.h"
#include "core/wire/codec.h"

namespace pareto::sweep {
namespace {

using evaluation::Answer;

/// A share that is met but for the rounding of its product is met.
constexpr double kRounding = 1e-9;

constexpr std::string_view kExact = "fp32";

bool loses_something(const std::string& codec) {
  const auto found = wire::find_codec(codec);
  return !found || (*found != nullptr && !(*found)->lossless());
}

evaluation::OnAnswered saying(const std::function<void(const std::string&)>& say,
                              const std::string& what, std::size_t samples) {
  return [&say, what, samples](std::size_t done) {
    if (say) say(fmt::format("{}: {} of {} samples", what, done, samples));
  };
}

}  // namespace

bool may_lose(const plan::Plan& plan) {
  if (std::ranges::any_of(plan.codecs, loses_something)) return true;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (plan.settings_of(i).precision != kExact) return true;
  }
  return false;
}

bool is_lossless(const cluster::Deployment& deployment, const plan::Plan& plan) {
  if (std::ranges::any_of(deployment.codecs(), loses_something)) return false;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const std::string& kept = deployment.shards()[i]->loaded.precision;
    if ((kept.empty() ? plan.settings_of(i).precision : kept) != kExact) return false;
  }
  return true;
}

plan::Plan computed_part(plan::Plan plan) {
  plan.transport.clear();
  plan.transports.clear();
  plan.window = 0;
  return plan;
}

AccuracyCheck::AccuracyCheck(const model::Model& model, AccuracyOptions options,
                             evaluation::Classifier classifier, std::unique_ptr<data::DataSet> data)
    : model_(model),
      options_(std::move(options)),
      classifier_(std::move(classifier)),
      data_(std::move(data)),
      samples_(evaluation::evenly_spaced(data_->size(), options_.limit)),
      workload_(model) {}

Expected<std::unique_ptr<AccuracyCheck>> AccuracyCheck::open(const model::Model& model,
                                                             const AccuracyOptions& options) {
  PARETO_ASSIGN(evaluation::Classifier classifier, evaluation::classifier_of(model));
  data::DataSetOptions opening;
  PARETO_ASSIGN(opening.part, data::parse_part(options.part));
  if (!options.preprocessing.empty()) {
    PARETO_ASSIGN(opening.preprocessing, data::read_preprocessing(options.preprocessing));
  }
  opening.input_shape = classifier.input_shape;
  opening.classes = classifier.classes;
  PARETO_ASSIGN(auto data, data::open_data_set(options.data, opening));
  return std::unique_ptr<AccuracyCheck>(
      new AccuracyCheck(model, options, std::move(classifier), std::move(data)));
}

evaluation::SampleBatches AccuracyCheck::batches_of(std::int64_t batch) const {
  return {*data_, samples_, batch};
}

Expected<const std::vector<Answer>*> AccuracyCheck::uncut(
    std::int64_t batch, const std::function<void(const std::string&)>& say) {
  auto found = uncut_.find(batch);
  if (found == uncut_.end()) {
    PARETO_ASSIGN(evaluation::Evaluation answered,
                  evaluation::evaluate_uncut(model_, batches_of(batch),
                                             saying(say, "uncut model", samples_.size())));
    found = uncut_.emplace(batch, std::move(answered.answers)).first;
  }
  return &found->second;
}

Expected<> AccuracyCheck::judge(results::TrialRecord& trial,
                                const std::vector<results::TrialRecord>& others,
                                cluster::Deployment& deployment, std::chrono::milliseconds timeout,
                                const std::function<void(const std::string&)>& say) {
  plan::Plan plan = trial.plan;
  plan.codecs = deployment.codecs();
  const plan::Plan computed = computed_part(plan);
  const auto same = std::ranges::find_if(others, [&](const results::TrialRecord& other) {
    return other.accuracy && computed_part(other.plan) == computed;
  });
  if (same != others.end()) {
    trial.accuracy = same->accuracy;
    refuse_if_below(trial);
    return {};
  }
  PARETO_ASSIGN(const std::vector<Answer>* const expected, uncut(trial.batch, say));
  if (is_lossless(deployment, plan)) return take_uncut(trial, say);
  PARETO_ASSIGN(const evaluation::Evaluation answered,
                with_context(evaluation::evaluate_pipeline(
                                 deployment, plan, workload_, batches_of(trial.batch),
                                 {evaluation::window_of(plan), timeout},
                                 saying(say, "accuracy of " + trial.id, samples_.size())),
                             "accuracy"));
  PARETO_TRY(take_uncut(trial, say));
  results::AccuracyFigures& figures = *trial.accuracy;
  figures.was_run = true;
  figures.right = evaluation::accuracy_of(answered.answers, classifier_.classes).top1.count;
  figures.agreeing = evaluation::agreement_of(*expected, answered.answers).best.count;
  refuse_if_below(trial);
  return {};
}

Expected<> AccuracyCheck::take_uncut(results::TrialRecord& trial,
                                     const std::function<void(const std::string&)>& say) {
  PARETO_ASSIGN(const std::vector<Answer>* const answers, uncut(trial.batch, say));
  const auto samples = static_cast<std::int64_t>(answers->size());
  const std::int64_t right = evaluation::accuracy_of(*answers, classifier_.classes).top1.count;
  trial.accuracy = results::AccuracyFigures{.samples = samples,
                                            .right = right,
                                            .agreeing = samples,
                                            .uncut_right = right,
                                            .was_run = false};
  return {};
}

void AccuracyCheck::refuse_if_below(results::TrialRecord& trial) const {
  const results::AccuracyFigures& figures = *trial.accuracy;
  const double least = options_.least_share * static_cast<double>(figures.uncut_right);
  if (static_cast<double>(figures.right) >= least - kRounding) return;
  trial.status = results::TrialStatus::kRefused;
  trial.failure = fmt::format(
      "top-1 is {:.2f} %, below {:.4g} % of the uncut model's {:.2f} % (--min-accuracy)",
      100 * figures.top1(), 100 * options_.least_share, 100 * figures.uncut_top1());
}

}  // namespace pareto::sweep
