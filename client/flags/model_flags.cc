#include "client/flags/model_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <utility>

#include "client/flags/inputs.h"
#include "client/flags/known_names.h"
#include "client/flags/model_notices.h"
#include "client/flags/remembered_inputs.h"
#include "client/flags/slow_opening.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/frontiers/select_cuts.h"
#include "runtime/operator_libraries.h"

namespace pareto::client {
namespace {

/// Loads libraries of operators here, and lets daemons that this process starts load them.
Expected<> load_operators(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  PARETO_TRY(with_context(runtime::load_operator_libraries(files), "--operators"));
  std::vector<std::string> paths;
  for (const std::string& file : files) paths.push_back(absolute_path(file));
  ::setenv("PARETOD_OPERATORS", join(paths, ",").c_str(), /*overwrite=*/1);
  return {};
}

InputMemory memory_of(const Context& context) {
  return InputMemory(context.default_store.parent_path() / "inputs");
}

}  // namespace

void ModelFlags::add_to(CLI::App& app, bool required) {
  const Heading heading(app, "Model");
  auto* option = set_value(
      app.add_option(
          "--model", model,
          fmt::format("built-in model (paretoctl models) or {} file", model::format_names())),
      "NAME|FILE", model_names());
  if (required) option->required();
  set_value(app.add_option("--input-shape", input_shape,
                           "shape of an input without the batch, as 3x224x224; a dtype follows a "
                           "colon (128:int64), a range of integers follows '=' (128:int64=1..39), "
                           "and further inputs a ';'. A size may be a range: "
                           "3x192..256x192..256, or every 32nd of it: 3x192..256/32x224. B is the "
                           "batch if it is not the first "
                           "dimension of each input: \"Bx5x6;2xBx8;9x9:bool\""),
            "SHAPE");
  set_value(app.add_option("--input", inputs,
                           "data to open, measure and run the model with, one .npy file an input; "
                           "the first dimension is the batch, unless --input-shape has a B"),
            "FILE")
      ->delimiter(',')
      ->transform(CLI::Validator(
          [](std::string& file) {
            // Blanks around a comma are no part of a name.
            CLI::detail::trim(file);
            return std::string();
          },
          ""))
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  set_value(app.add_option("--num-classes", num_classes,
                           "number of classes of a built-in model (default: its own, see "
                           "paretoctl models)"),
            "N");
  set_value(
      app.add_option("--weights", weights,
                     "weights of a built-in model: a checkpoint with torchvision's names (.pth; "
                     "of yolov8n: ultralytics') or a TorchScript file (.pt)"),
      "FILE");
  set_value(app.add_option("--model-seed", model_seed,
                           "seed of a built-in model's random weights, without --weights"),
            "N")
      ->capture_default_str();
  set_value(app.add_option("--operators", operators,
                           "shared libraries of operators that LibTorch lacks, such as "
                           "torchvision's; daemons started here load them too, others by "
                           "`operators:` in paretod.yaml"),
            "LIB.so")
      ->delimiter(',');
}

void ModelFlags::complete(const plan::ModelSource& source) {
  const ModelFlags plain;
  if (model.empty()) model = source.model;
  if (input_shape.empty() && inputs.empty()) {
    input_shape = source.input_shape;
    inputs = source.inputs;
    is_recalled_ = true;
  }
  if (!num_classes) num_classes = source.num_classes;
  if (weights.empty()) weights = source.weights;
  if (model_seed == plain.model_seed) model_seed = source.model_seed;
  operators_of_plan_ = source.operators;
}

plan::ModelSource ModelFlags::source() const {
  plan::ModelSource source;
  source.model = model::zoo::is_model_file(model) ? absolute_path(model) : model;
  source.input_shape = data_shape_.empty() ? input_shape : data_shape_;
  source.num_classes = num_classes.value_or(model::zoo::default_classes(model));
  source.weights = absolute_path(weights);
  source.model_seed = model_seed;
  for (const std::string& file : inputs) source.inputs.push_back(absolute_path(file));
  for (const std::string& file : operators) source.operators.push_back(absolute_path(file));
  return source;
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).lexically_normal().string();
}

void ModelFlags::take_remembered(Context& context, const Digest& file,
                                 std::vector<std::int64_t>& batches) {
  auto known = memory_of(context).recall(file);
  if (!known) return;
  std::vector<std::string> flags;
  if (input_shape.empty() && inputs.empty()) {
    for (const std::string& data : known->inputs) flags.push_back("--input " + data);
    if (flags.empty() && !known->input_shape.empty()) {
      flags.push_back(fmt::format("--input-shape \"{}\"", known->input_shape));
    }
    if (known->batch && batches.empty()) flags.push_back(fmt::format("--batch {}", *known->batch));
    if (known->batch) batches.push_back(*known->batch);
    input_shape = std::move(known->input_shape);
    inputs = std::move(known->inputs);
    is_recalled_ = true;
  }
  if (operators.empty() && !known->operators.empty()) {
    operators = std::move(known->operators);
    flags.push_back("--operators " + join(operators, ","));
  }
  if (flags.empty()) return;
  context.err << fmt::format("{} is opened as it last was: {}\n", model, join(flags, " "))
              << std::flush;
}

void ModelFlags::leave_out_absent(Context& context, bool are_operators_said) {
  const auto find_absent = [](const std::vector<std::string>& files) {
    return std::ranges::find_if(files, [](const std::string& file) {
      std::error_code error;
      return !std::filesystem::exists(file, error);
    });
  };
  if (const auto file = find_absent(inputs); is_recalled_ && file != inputs.end()) {
    context.err << fmt::format("{} is not there any more: made-up inputs of its shape are used\n",
                               *file)
                << std::flush;
    inputs.clear();
  }
  if (const auto file = find_absent(operators); !are_operators_said && file != operators.end()) {
    context.err << fmt::format("{} is not there any more: its operators are not loaded\n", *file)
                << std::flush;
    operators.clear();
  }
}

void ModelFlags::remember(const Context& context, const Digest& file,
                          const model::Model& opened) const {
  const plan::ModelSource opened_as = source();
  // A folder that cannot be written only means that it has to be said again.
  static_cast<void>(memory_of(context).remember(
      file, {opened_as.input_shape, opened_as.inputs, opened.only_batch(), opened_as.operators}));
}

Expected<model::Model> ModelFlags::open(Context& context,
                                        const std::vector<std::int64_t>& batches) {
  model::zoo::ModelOptions options;
  options.num_classes = num_classes;
  options.weights = weights;
  options.seed = model_seed;
  options.batches = batches;
  std::optional<Digest> file;
  if (model::zoo::is_model_file(model)) {
    const SlowOpening slow(context.err, fmt::format("opening {}: reading it", model));
    if (const auto digest = digest_of_file(model)) file = *digest;
  }
  const bool are_operators_said = !operators.empty();
  if (file) take_remembered(context, *file, options.batches);
  leave_out_absent(context, are_operators_said);
  if (operators.empty() && !operators_of_plan_.empty()) {
    context.err << fmt::format(
                       "the plan was made with --operators {}: libraries are code, and loaded only "
                       "if you name them\n",
                       join(operators_of_plan_, ","))
                << std::flush;
  }
  if (!input_shape.empty() || !inputs.empty()) {
    PARETO_ASSIGN(options.input, read_model_inputs(input_shape, inputs));
  }
  PARETO_TRY(load_operators(operators));
  const auto open_patiently = [&] {
    const SlowOpening slow(
        context.err,
        fmt::format("opening {}: loading it, and running it to see its shapes", model));
    return model::zoo::open_model(model, options);
  };
  auto tried = open_patiently();
  if (!tried && options.input) {
    tried.error().message += integers_hint(tried.error().message, *options.input);
  }
  PARETO_ASSIGN(model::Model opened, std::move(tried));
  if (!inputs.empty()) data_shape_ = model::to_text(opened.inputs());
  if (file && options.input && (!is_recalled_ || are_operators_said)) {
    remember(context, *file, opened);
  }
  std::vector<std::string> notices = model_notices(opened.graph());
  notices.insert(notices.begin(), {only_batch_notice(opened), emptied_notice(opened)});
  for (const std::string& notice : notices) {
    if (!notice.empty()) context.err << notice << '\n' << std::flush;
  }
  return opened;
}

Expected<std::vector<std::size_t>> select_splits(Context& context, const model::Model& model,
                                                 const std::string& text) {
  if (planning::selects_sets(text)) {
    return fail(ErrorCode::kInvalidArgument,
                "--splits {}: here they are positions of the model's order (all, modules, "
                "after:MODULE, op:N); plan cuts at any frontier by itself (--cuts ideals), and "
                "sweep, run and verify take them by name",
                text);
  }
  PARETO_ASSIGN(auto chosen, model::select_split_points(model, text));
  for (const std::string& sentence : model::cuts_named_twice(model.split_points(), text)) {
    context.err << sentence << '\n' << std::flush;
  }
  return chosen;
}

}  // namespace pareto::client
