#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "client/cluster/codec_choice.h"
#include "client/cluster/deployment.h"
#include "client/cluster/transport_choice.h"
#include "client/cluster/workload.h"
#include "client/commands/commands.h"
#include "client/commands/flags.h"
#include "client/commands/inputs.h"
#include "client/commands/line_reader.h"
#include "client/commands/npy.h"
#include "client/experiment/plan_file.h"
#include "client/experiment/request_stream.h"
#include "client/planning/profiled_stages.h"
#include "client/program.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/plan/json_text.h"

namespace pareto::client {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using partitioner::Model;

/// Names of files, of the command line or as they are piped in, as requests. Threads: as RequestSource.
class FileRequests final : public RequestSource {
 public:
  FileRequests(Context& context, const Model& model, ModelWorkload& workload,
               std::int64_t plan_batch, const fs::path& output, std::vector<std::string> files,
               LineReader lines, const std::atomic<bool>& stop)
      : context_(context),
        model_(model),
        workload_(workload),
        plan_batch_(plan_batch),
        output_(output.empty() ? output : canonical(output)),
        files_(std::move(files)),
        piped_(files_.empty()),
        lines_(std::move(lines)),
        stop_(stop) {
    for (const std::string& line : files_) add_inputs(line);
  }

  std::optional<StreamRequest> next() override {
    std::optional<std::string> line = next_line();
    while (line && line->find_first_not_of(" \t") == std::string::npos) line = next_line();
    if (!line) return std::nullopt;
    StreamRequest request;
    request.name = *std::move(line);
    add_inputs(request.name);
    request.body = read(request.name, request.batch);
    return request;
  }
  void cancel() override {
    cancelled_ = true;
    lines_.cancel();
  }

  /// Whether that file of the folder for results was named as an input until now, or is going to be, as far as is known. Threads: any.
  bool is_input(const fs::path& file) const {
    const std::lock_guard lock(mutex_);
    return inputs_in_output_.contains(file.filename());
  }
  /// Of the command line's, those that were not taken: it was stopped before.
  std::size_t left() const { return piped_ ? 0 : files_.size() - taken_; }

 private:
  static fs::path canonical(const fs::path& folder) {
    std::error_code absent;
    return fs::weakly_canonical(folder, absent);
  }
  /// Remembers what results could replace, and nothing else: there may be no end of inputs.
  void add_inputs(const std::string& line) {
    if (output_.empty()) return;
    for (const fs::path file : split_list(line, ';')) {
      if (canonical("." / file.parent_path()) != output_) continue;
      const std::lock_guard lock(mutex_);
      inputs_in_output_.insert(file.filename());
    }
  }
  std::optional<std::string> next_line() {
    if (piped_) return lines_.next();
    if (stop_ || cancelled_ || taken_ == files_.size()) return std::nullopt;
    return files_[taken_++];
  }
  /// "a.npy", or of a model with several inputs "a.npy;b.npy".
  Expected<Value> read(const std::string& line, std::int64_t& batch) {
    const std::vector<std::string> files = split_list(line, ';');
    PARETO_ASSIGN(const ModelInputs inputs, read_request(model_, files));
    batch = inputs.batch;
    if (batch != plan_batch_) tell_of_batch(line, batch);
    PARETO_ASSIGN(std::vector<Value> ordered, workload_.to_first_shard(inputs.values));
    return Value(Tuple{std::move(ordered)});
  }

  /// Once: it is computed, but what is known of the plan is of another batch.
  void tell_of_batch(const std::string& request, std::int64_t batch) {
    if (std::exchange(told_of_batch_, true)) return;
    context_.err
        << fmt::format(
               "{} has batch {}, and the plan {}: what it predicts, and what stages are held "
               "to (pareto_stage_profiled_compute_seconds), does not hold for it\n",
               request, batch, plan_batch_)
        << std::flush;
  }

  Context& context_;
  const Model& model_;
  ModelWorkload& workload_;
  const std::int64_t plan_batch_;
  const fs::path output_;  ///< empty: results are not kept
  const std::vector<std::string> files_;
  const bool piped_;
  LineReader lines_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> cancelled_{false};
  std::size_t taken_ = 0;
  bool told_of_batch_ = false;
  mutable std::mutex mutex_;
  std::set<fs::path> inputs_in_output_;
};

/// Results as files and lines. Threads: as RequestSink.
class FileResults final : public RequestSink {
 public:
  FileResults(Context& context, ModelWorkload& workload, const FileRequests& requests,
              fs::path folder, bool json)
      : context_(context),
        workload_(workload),
        sources_(requests),
        folder_(std::move(folder)),
        json_(json) {}

  void done(StreamResult result) override {
    const double latency_ms = to_milliseconds(result.latency);
    const auto files = keep(result);
    ++requests_;
    if (!files) ++failed_;
    if (json_) {
      Json line{{"request", result.name}};
      if (files) {
        line["latency_ms"] = latency_ms;
        line["output"] = *files;
      } else {
        line["error"] = files.error().message;
      }
      context_.out << dump(line) << std::endl;
    } else if (files) {
      context_.out << fmt::format("{}  {:.2f} ms{}{}", result.name, latency_ms,
                                  files->empty() ? "" : "  ", join(*files, " "))
                   << std::endl;
    } else {
      context_.out << fmt::format("{}  failed: {}", result.name, files.error().message)
                   << std::endl;
    }
  }

  std::size_t requests() const { return requests_; }
  std::size_t failed() const { return failed_; }

 private:
  /// Writes its tensors. Returns their files.
  Expected<std::vector<std::string>> keep(const StreamResult& result) {
    if (!result.outputs) return tl::unexpected(result.outputs.error());
    const auto* tuple = result.outputs->get_if<Tuple>();
    if (!tuple) return fail(ErrorCode::kCorrupt, "the pipeline's result is no tuple");
    PARETO_ASSIGN(const std::vector<Value> outputs, workload_.from_last_shard(tuple->items));
    std::vector<std::string> files;
    if (folder_.empty()) return files;
    std::vector<const Tensor*> tensors;
    for (const Value& output : outputs) {
      const auto inside = tensors_of(output);
      tensors.insert(tensors.end(), inside.begin(), inside.end());
    }
    const std::vector<std::string> inputs = split_list(result.name, ';');
    const std::string stem = unused(fs::path(inputs.front()).stem().string());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const fs::path file =
          folder_ / (tensors.size() == 1 ? stem + ".npy" : fmt::format("{}.{}.npy", stem, i));
      if (sources_.is_input(file)) {
        return fail(ErrorCode::kInvalidArgument,
                    "its result would replace {}: another folder is needed (--output)",
                    file.string());
      }
      PARETO_TRY(write_npy(file, *tensors[i]));
      files.push_back(file.string());
    }
    return files;
  }
  /// "photo", and when that was used before "photo-2".
  std::string unused(const std::string& stem) {
    const int times = ++used_[stem];
    return times == 1 ? stem : unused(fmt::format("{}-{}", stem, times));
  }

  Context& context_;
  ModelWorkload& workload_;
  const FileRequests& sources_;
  const fs::path folder_;
  const bool json_;
  std::map<std::string, int> used_;
  std::size_t requests_ = 0;
  std::size_t failed_ = 0;
};

class DeployCommand final : public Command {
 public:
  std::string_view name() const override { return "deploy"; }
  std::string_view summary() const override {
    return "bring a plan's pipeline up and stream your own requests through it";
  }
  std::string_view examples() const override {
    return "  ls frames/*.npy | paretoctl deploy --plan plan.json --output results\n"
           "  paretoctl deploy --plan plan.json --devices inventory.yaml photo.npy other.npy\n"
           "  camera | paretoctl deploy --plan plan.json --json   # a name a line, as they come\n";
  }
  void add_options(CLI::App& app) override {
    app.add_option("--plan", plan_file_, "a plan file, as of run --save-plan")->required();
    model_.add_to(app, /*required=*/false);
    devices_.add_to(app);
    app.add_option("--codec-error", codec_error_,
                   "what a codec that the plan leaves to be chosen may lose of a tensor")
        ->capture_default_str();
    timeout_.add_to(app);
    store_.add_to(app);
    app.add_option("--output", output_,
                   "folder for the results: one .npy a tensor, called as its request");
    app.add_flag("--json", json_, "one JSON object a request and line on stdout");
    app.add_option("files", files_,
                   "requests: .npy files, their first dimension the batch; of a model with several "
                   "inputs all in one word, separated by ';'. None: a request a line is read from "
                   "stdin, until it ends or Ctrl-C");
  }

  Expected<int> run(Context& context) override {
    const std::atomic<bool>& stop = context.stop.watch();
    PARETO_TRY(check_codec_error(codec_error_));
    PARETO_ASSIGN(request_timeout_, timeout_.read());
    PARETO_ASSIGN(const NamedPlan named, read_plan_file(plan_file_));
    model_.complete(source_of(named));
    PARETO_ASSIGN(const Model model, model_.open(context, {named.plan.batch}));
    PARETO_TRY(check_micro_batch(model, named.plan.micro_batch));
    PARETO_TRY(make_folder());
    const auto count = std::max<std::size_t>(devices_named({named}), 2);
    devices_.settle(context);
    PARETO_ASSIGN(const Cluster cluster, devices_.connect(context, static_cast<int>(count), {},
                                                          {.names = device_names({named})}));
    PARETO_TRY(check_plan(named, model, cluster));
    PARETO_ASSIGN(const Plan plan, with_transports_named(named.plan, cluster));
    PARETO_ASSIGN(LineReader lines, LineReader::of(context.input, context.stop.descriptor()));
    ModelWorkload workload(model);
    FileRequests requests(context, model, workload, plan.batch, output_, files_, std::move(lines),
                          stop);
    FileResults results(context, workload, requests, output_, json_);
    DeploymentOptions deploying;
    if (auto known = profiled(context, plan, model, cluster)) {
      deploying.profiled_compute = *std::move(known);
    } else if (!store_.path.empty()) {
      return tl::unexpected(std::move(known).error());
    } else {
      context.err << "what devices were profiled to take is not known: " << known.error().message
                  << '\n';
    }
    auto streamed =
        stream(context, cluster, plan, std::move(deploying), workload, requests, results);
    if (!streamed) {
      // From here on a device that breaks is a failure while running, not an environment that refuses.
      if (exit_code_of(streamed.error().code) == kExitEnvironment) {
        streamed.error().code = ErrorCode::kInternal;
      }
      return tl::unexpected(std::move(streamed).error());
    }
    const std::size_t left = requests.left();
    context.err << fmt::format("{} requests, {} failed{}\n", results.requests(), results.failed(),
                               left > 0 ? fmt::format("; {} not sent: stopped", left) : "");
    return results.failed() + left == 0 ? kExitDone : kExitPartial;
  }

 private:
  Expected<> make_folder() const {
    if (output_.empty()) return {};
    std::error_code error;
    fs::create_directories(output_, error);
    if (!error) return {};
    return tl::unexpected(error_from_errno(error.value(), "making the folder " + output_));
  }

  /// Of each stage what it takes by its device's profile; nothing where nothing is kept.
  Expected<std::vector<Nanoseconds>> profiled(Context& context, const Plan& plan,
                                              const Model& model, const Cluster& cluster) const {
    std::error_code absent;
    if (!fs::exists(store_.file(context), absent)) return std::vector<Nanoseconds>{};
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    return profiled_stages(plan, model, cluster, *store);
  }

  Expected<> stream(Context& context, const Cluster& cluster, const Plan& plan,
                    DeploymentOptions deploying, ModelWorkload& workload, FileRequests& requests,
                    FileResults& results) const {
    TransportSet transports;
    ShardPool pool(workload);
    CodecChooser codecs(codec_error_);
    deploying.codecs = &codecs;
    PARETO_ASSIGN(
        const auto deployment,
        with_context(Deployment::open(plan, cluster, pool, transports, deploying), "deploying"));
    StreamOptions options;
    // Where it is left open: a request in every stage, and one on its way, to each replica.
    const int stages = static_cast<int>(plan.stages.size());
    options.window = plan.window > 0 ? plan.window : stages + static_cast<int>(plan.turn());
    options.micro_batch = plan.micro_batch;
    options.request_timeout = request_timeout_;
    context.err << fmt::format("ready: {} {} over {}, window {}\n", stages,
                               plan.replicated ? "replicas" : "stages", plan.transport_text(),
                               options.window)
                << std::flush;
    return run_stream(deployment->source(), deployment->sink(), deployment->pipeline(), options,
                      requests, results);
  }

  ModelFlags model_;
  DeviceFlags devices_;
  std::string plan_file_;
  double codec_error_ = 0;
  TimeoutFlag timeout_;
  StoreFlags store_;
  std::chrono::milliseconds request_timeout_{};
  std::string output_;
  std::vector<std::string> files_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_deploy_command() { return std::make_unique<DeployCommand>(); }

}  // namespace pareto::client
