#include <nlohmann/json.hpp>

#include "client/report/report_writer.h"
#include "coordinator/results/store.h"
#include "core/base/file.h"
#include "tests/bench/benches.h"
#include "tests/support/process.h"
#include "tests/support/synthetic_run.h"

namespace pareto::bench {
namespace {

constexpr double kMostBytes = 3e6;
constexpr double kMostMs = 2000;
constexpr double kMostStepMs = 100;  // what a reader takes for at once

/// Returns the page of 225 split points under four networks, from a store.
Expected<std::string> large_page(const std::filesystem::path& folder) {
  PARETO_ASSIGN(const auto store, results::ResultStore::open(folder / "results.db"));
  const results::RunRecord run = test::synthetic_large_sweep();
  PARETO_TRY(store->begin_run(run));
  PARETO_TRY(store->put_trials(run.id, run.trials));
  PARETO_TRY(store->update_run(run));
  PARETO_ASSIGN(const results::RunRecord stored, store->load_run(run.id));
  PARETO_ASSIGN(const auto writer, report::make_writer("html"));
  return writer->write(stored, {});
}

}  // namespace

Expected<std::vector<Row>> report_page(const std::string& name) {
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("report-page"));
  PARETO_ASSIGN(const std::string page, large_page(folder.path()));
  const auto file = folder.path() / "report.html";
  PARETO_TRY(write_file_atomically(file, page));
  const auto done = test::run({PARETO_NODE, PARETO_BROWSER_SCRIPTS "/open_time.js", file},
                              {"NODE_PATH=" PARETO_NODE_MODULES, "HOME=" + folder.path().string()});
  if (done.exit_code != 0) {
    return fail(ErrorCode::kUnavailable, "driving a browser: {}", done.errors);
  }
  const auto times = nlohmann::json::parse(done.output);
  const double bytes = static_cast<double>(page.size());
  const double open_ms = times.at("open_ms");
  const double step_ms = times.at("step_ms");
  return std::vector<Row>{
      {name + "/size", bytes / kMostBytes, 1.0, false,
       fmt::format("{:.2f} MB / {:.0f} MB", bytes / 1e6, kMostBytes / 1e6)},
      {name + "/open", open_ms / kMostMs, 1.0, false,
       fmt::format("{:.0f} ms / {:.0f} ms until it is drawn, in Chromium", open_ms, kMostMs)},
      {name + "/step", step_ms / kMostStepMs, 1.0, false,
       fmt::format("{:.0f} ms / {:.0f} ms from a key to the next plan", step_ms, kMostStepMs)}};
}

}  // namespace pareto::bench
