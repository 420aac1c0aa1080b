// pareto_bench [GROUP…] [--only NAME] [--json]: what `./dev bench` runs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/blas_kernels.h"
#include "core/base/start_again.h"
#include "tests/bench/bench.h"
#include "tests/bench/device_tasks.h"
#include "tests/bench/overlapped.h"
#include "tests/bench/replay_stage.h"
#include "tests/bench/warm_links.h"
#include "tests/bench/wire_peer.h"

namespace {

using pareto::bench::Bench;
using pareto::bench::Row;

/// "unsplit" and "unsplit/resnet50" both choose unsplit/resnet50.
bool chosen(const Bench& bench, const std::vector<std::string>& groups, const std::string& only) {
  const bool named = std::find(groups.begin(), groups.end(), bench.group) != groups.end();
  if (!groups.empty() && !named) return false;
  if (only.empty()) return named || !bench.on_request;
  return bench.name == only || bench.name.starts_with(only + "/");
}

void print_table_row(const Row& row) {
  const std::string bar =
      row.bar ? fmt::format("{} {:<6.3g} {:<6}", row.at_least ? ">=" : "<=", *row.bar,
                            row.holds() ? "holds" : "MISSED")
              : fmt::format("{:<16}", "");
  fmt::print("{:<28} {:>7.3f}  {} {}\n", row.name, row.ratio, bar, row.detail);
  std::fflush(stdout);
}

/// Shows on a terminal what is going on, on a line that the next output takes.
void show_progress(std::string_view text) {
  if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K{}", text);
}

nlohmann::json to_json(const Row& row) {
  return {{"name", row.name},
          {"ratio", row.ratio},
          {"bar", row.bar ? nlohmann::json(*row.bar) : nlohmann::json()},
          {"holds", row.holds()},
          {"detail", row.detail}};
}

}  // namespace

int main(int argc, char** argv) {
  if (pareto::choose_blas_kernels()) pareto::start_again(argv);
  if (argc > 1 && std::string_view(argv[1]) == "wire-peer") {
    return pareto::bench::run_wire_peer(argc - 1, argv + 1);
  }
  if (argc > 1 && std::string_view(argv[1]) == "replay-stage") {
    return pareto::bench::run_replay_stage(argc - 1, argv + 1);
  }
  if (argc > 1 && std::string_view(argv[1]) == "warm-links") {
    return pareto::bench::run_warm_links(argc - 1, argv + 1);
  }
  if (argc > 1 && std::string_view(argv[1]) == "overlapped") {
    return pareto::bench::run_overlapped(argc - 1, argv + 1);
  }
  if (argc > 1 && std::string_view(argv[1]) == "device-tasks") {
    return pareto::bench::run_device_tasks(argc - 1, argv + 1);
  }
  const auto benches = pareto::bench::builtin_benches();
  std::set<std::string> known;
  for (const Bench& bench : benches) known.insert(bench.group);

  CLI::App app("Figures of this build, each a ratio within one run and held against a bar.");
  std::vector<std::string> groups;
  std::string only;
  bool json = false;
  app.add_option("group", groups, "groups to run; all but peers if none is named")
      ->check(CLI::IsMember(known));
  app.add_option("--only", only, "one row, or all that begin with NAME/");
  app.add_flag("--json", json, "one JSON document");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  nlohmann::json rows = nlohmann::json::array();
  int failed = 0;
  int ran = 0;
  const auto all = std::ranges::count_if(
      benches, [&](const Bench& bench) { return chosen(bench, groups, only); });
  for (const Bench& bench : benches) {
    if (!chosen(bench, groups, only)) continue;
    show_progress(fmt::format("{} of {}: {} ", ++ran, all, bench.name));
    const auto result = bench.run();
    show_progress("");
    if (!result) {
      fmt::print(stderr, "pareto_bench: {}: {}\n", bench.name, result.error().message);
      ++failed;
      continue;
    }
    for (const Row& row : *result) {
      if (!json) print_table_row(row);
      rows.push_back(to_json(row));
    }
  }
  if (ran == 0) {
    fmt::print(stderr, "pareto_bench: nothing is called \"{}\" there\n", only);
    return 2;
  }
  if (json) fmt::print("{}\n", nlohmann::json{{"rows", rows}}.dump(2));
  return failed == 0 ? 0 : 1;
}
