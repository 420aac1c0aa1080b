#include "client/flags/data_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "coordinator/evaluation/sample_batches.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client {

std::string data_set_forms() {
  std::vector<std::string> forms;
  for (const data::DataSetKind& kind : data::builtin_data_sets()) {
    forms.push_back(fmt::format("{} ({})", kind.form, kind.what));
  }
  return join(forms);
}

void DataFlags::add_to(CLI::App& app, bool required) {
  const Heading heading(app, "Data");
  set_value(app.add_option(flag, spec, "data set: " + data_set_forms()), "SPEC")
      ->required(required);
  set_value(app.add_option("--part", part,
                           "part of a data set that has two, cifar10 or synthetic: train or test"),
            "NAME", {"train", "test"})
      ->capture_default_str();
  set_value(app.add_option("--preprocess", preprocessing,
                           "file that says how pictures become inputs (configs/preprocessing; "
                           "default: as torchvision's models of that input are evaluated)"),
            "FILE");
  set_value(app.add_option("--limit", limit,
                           "number of samples that are looked at, evenly spaced (default: all)"),
            "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description(""));
}

Expected<std::unique_ptr<data::DataSet>> DataFlags::open(
    Context& context, const evaluation::Classifier& model) const {
  data::DataSetOptions options;
  PARETO_ASSIGN(options.part, with_context(data::parse_part(part), "--part"));
  if (!preprocessing.empty()) {
    PARETO_ASSIGN(options.preprocessing,
                  with_context(data::read_preprocessing(preprocessing), "--preprocess"));
  }
  options.input_shape = model.input_shape;
  options.classes = model.classes;
  PARETO_ASSIGN(auto data, with_context(data::open_data_set(spec, options), "{}", flag));
  if (data->classes() < model.classes) {
    context.err << fmt::format("{}: labels are 0 to {}, of the model's {} classes\n", data->title(),
                               data->classes() - 1, model.classes)
                << std::flush;
  }
  return data;
}

std::vector<std::int64_t> DataFlags::samples(const data::DataSet& data) const {
  return evaluation::evenly_spaced(data.size(), limit);
}

}  // namespace pareto::client
