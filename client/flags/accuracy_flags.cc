#include "client/flags/accuracy_flags.h"

#include <CLI/CLI.hpp>

#include "client/flags/model_flags.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client {

void AccuracyFlags::add_to(CLI::App& app) {
  data_.add_to(app, /*required=*/false);
  const Heading heading(app, "Data");
  set_value(
      app.add_option("--min-accuracy", least_,
                     "least top-1 accuracy of a plan, as a share of the uncut model's: 99%. "
                     "Plans below it are not measured, and the reason is said (default: any)"),
      "SHARE");
  for (const char* flag : {"--min-accuracy", "--part", "--preprocess", "--limit"}) {
    app.get_option(flag)->needs(app.get_option(data_.flag));
  }
}

Expected<sweep::AccuracyOptions> AccuracyFlags::read() const {
  sweep::AccuracyOptions options;
  if (data_.spec.empty()) return options;
  PARETO_TRY(with_context(data::parse_part(data_.part), "--part"));
  options.data = data::with_absolute_path(data_.spec);
  options.part = data_.part;
  options.preprocessing = absolute_path(data_.preprocessing);
  options.limit = data_.limit;
  if (!least_.empty()) {
    PARETO_ASSIGN(options.least_share, with_context(parse_share(least_), "--min-accuracy"));
  }
  return options;
}

}  // namespace pareto::client
