#include "client/commands/show.h"

#include <ostream>

#include "core/base/file.h"

namespace pareto::client::commands {

Expected<> print_run(Context& context, const results::RunRecord& run, const std::string& writer) {
  PARETO_ASSIGN(const auto chosen, report::make_writer(writer));
  PARETO_ASSIGN(const std::string text, chosen->write(run, style_of(context)));
  context.out << text << std::flush;
  return {};
}

Expected<> write_report(Context& context, const results::RunRecord& run,
                        const std::filesystem::path& path) {
  PARETO_ASSIGN(const auto writer, report::make_writer("html"));
  PARETO_ASSIGN(const std::string text, writer->write(run, {}));
  PARETO_TRY(with_context(write_file_atomically(path, text), "writing the report"));
  context.err << "report: " << path.string() << '\n';
  return {};
}

}  // namespace pareto::client::commands
