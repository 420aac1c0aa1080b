// history: checks the log of a stream of requests.
#include "coordinator/load/history.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <system_error>

#include "client/commands/commands.h"
#include "client/flags/json_flag.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

struct LogTerms {
  std::uint64_t count = 0;       ///< 0: the log has no terms
  bool ended = false;            ///< whether the stream said that it had ended
  std::uint64_t void_lines = 0;  ///< lines of terms that were over
  std::uint64_t cut_lines = 0;   ///< lines that a crash cut short
};

/// Hands each line of a log that counts to `take`. Fails: kNotFound, kCorrupt naming file and line.
template <typename Take>
Expected<LogTerms> read_log(const std::string& path, const Take& take) {
  std::ifstream file(path);
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    return fail(ErrorCode::kInvalidArgument, "{} is a folder: name the log in it", path);
  }
  if (!file) return fail(ErrorCode::kNotFound, "{}: no log can be read there", path);
  load::HistoryReader reader(path);
  std::string line(load::kLongestLogLine + 2, '\0');
  std::uint64_t lines = 0;
  while (file.getline(line.data(), static_cast<std::streamsize>(line.size()))) {
    // The end of a line is counted, but not that of a file.
    const auto count = static_cast<std::size_t>(file.gcount()) - (file.eof() ? 0 : 1);
    PARETO_ASSIGN(const auto read, reader.take(line.substr(0, count)));
    if (read) take(*read);
    ++lines;
  }
  if (file.bad()) {
    return fail(ErrorCode::kCorrupt, "{}: it cannot be read behind line {}", path, lines);
  }
  if (!file.eof()) {
    return fail(ErrorCode::kCorrupt, "{}: line {} has over {} bytes: no log of deploy --json", path,
                lines + 1, load::kLongestLogLine);
  }
  PARETO_TRY(reader.finish());
  return LogTerms{reader.terms(), reader.ended(), reader.void_lines(), reader.cut_lines()};
}

class HistoryCommand final : public Command {
 public:
  std::string_view name() const override { return "history"; }
  std::string_view summary() const override {
    return "check a log of deploy --json: every request answered once, in order, with the right "
           "output";
  }
  std::string_view examples() const override {
    return "  paretoctl deploy --plan plan.json --json --output results <names >log.jsonl\n"
           "  paretoctl history log.jsonl\n"
           "  paretoctl history log.jsonl --expected quiet.jsonl   # outputs are compared too\n"
           "\n"
           "The exit code is 1 if a request was lost, answered twice or out of order, or has "
           "another "
           "output.\nA request that failed with a reason is counted, and is no fault.\n";
  }
  void add_options(CLI::App& app) override {
    set_value(app.add_option("log", log_, "log that deploy --json wrote"), "FILE")->required();
    set_value(app.add_option("--expected", expected_,
                             "log of the same requests whose outputs are right: each output is "
                             "compared with that of the same request, byte by byte"),
              "FILE");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    load::HistoryCheck check;
    if (!expected_.empty()) {
      PARETO_TRY(read_log(expected_, [&](const load::HistoryLine& line) { check.expect(line); }));
    }
    PARETO_ASSIGN(const LogTerms terms,
                  read_log(log_, [&](const load::HistoryLine& line) { check.add(line); }));
    const load::HistoryVerdict verdict = check.finish();
    context.out << (json_ ? json_of(verdict, terms) : text_of(verdict, terms)) << std::flush;
    return verdict.holds() ? kExitDone : kExitFailed;
  }

 private:
  std::string text_of(const load::HistoryVerdict& verdict, const LogTerms& terms) const {
    std::string text = fmt::format(
        "{} answered, {} failed, {} not sent\n{} lost, {} duplicated, {} out of order\n",
        counted(verdict.answered, "request"), verdict.failed, verdict.not_sent, verdict.lost,
        verdict.duplicated, verdict.reordered);
    if (!expected_.empty()) {
      text += fmt::format("{} compared, {} wrong\n", counted(verdict.compared, "output"),
                          verdict.wrong);
    }
    if (terms.count > 0) {
      text += fmt::format("{}, {} void, {} cut short\n", counted(terms.count, "term"),
                          counted(terms.void_lines, "line"), terms.cut_lines);
      if (!terms.ended) {
        text += "the stream has not ended: requests behind the last line have no answer yet\n";
      }
    } else if (terms.cut_lines > 0) {
      text += fmt::format("{} cut short\n", counted(terms.cut_lines, "line"));
    }
    for (const std::string& finding : verdict.findings) text += printable(finding) + "\n";
    return text;
  }

  static std::string json_of(const load::HistoryVerdict& verdict, const LogTerms& terms) {
    nlohmann::ordered_json document{
        {"holds", verdict.holds()},       {"answered", verdict.answered},
        {"failed", verdict.failed},       {"not_sent", verdict.not_sent},
        {"lost", verdict.lost},           {"duplicated", verdict.duplicated},
        {"reordered", verdict.reordered}, {"compared", verdict.compared},
        {"wrong", verdict.wrong},         {"terms", terms.count},
        {"ended", terms.ended},           {"void_lines", terms.void_lines},
        {"cut_lines", terms.cut_lines},   {"findings", verdict.findings}};
    return dump(document) + "\n";
  }

  std::string log_;
  std::string expected_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_history_command() { return std::make_unique<HistoryCommand>(); }

}  // namespace pareto::client::commands
