#include "client/report/writers.h"
#include "core/base/text.h"

namespace pareto::report {

std::vector<std::unique_ptr<ReportWriter>> builtin_writers() {
  std::vector<std::unique_ptr<ReportWriter>> writers;
  writers.push_back(make_table_writer());
  writers.push_back(make_json_writer());
  writers.push_back(make_csv_writer());
  writers.push_back(make_html_writer());
  return writers;
}

Expected<std::unique_ptr<ReportWriter>> make_writer(std::string_view name) {
  std::vector<std::string> names;
  for (auto& writer : builtin_writers()) {
    if (writer->name() == name) return std::move(writer);
    names.emplace_back(writer->name());
  }
  return fail(ErrorCode::kNotFound, "no report format \"{}\": there are {}", name, join(names));
}

}  // namespace pareto::report
