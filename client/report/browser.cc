#include "client/report/browser.h"

#include <unistd.h>

#include <utility>

#include "client/report/child_program.h"
#include "core/base/file.h"

namespace pareto::report {
namespace {

constexpr const char* kNames[] = {"chromium", "chromium-browser", "google-chrome-stable",
                                  "google-chrome"};

Error no_browser(const std::string& what) {
  return {ErrorCode::kUnavailable,
          what +
              ": a picture is drawn by Chromium or Chrome: install one (apt install chromium) "
              "or name it with --browser"};
}

/// Returns the exit code of the browser that was named, or of the first that there is.
Expected<int> run_any(const Browser& browser, ChildProgram child) {
  if (!browser.program.empty()) {
    child.program = browser.program;
    return run_child(child);
  }
  for (const char* name : kNames) {
    child.program = name;
    auto code = run_child(child);
    if (code || code.error().code != ErrorCode::kNotFound) return code;
  }
  return fail(ErrorCode::kNotFound, "there is no browser");
}

}  // namespace

Expected<std::string> run_browser(const Browser& browser, std::vector<std::string> arguments,
                                  const std::filesystem::path& folder) {
  // The page is ours, offline, and may run no script but its own: for root there is no sandbox.
  if (::geteuid() == 0) arguments.insert(arguments.begin(), "--no-sandbox");
  arguments.insert(
      arguments.begin(),
      {"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
       "--disable-background-networking", "--disable-component-update", "--disable-sync",
       "--disable-extensions", "--user-data-dir=" + (folder / "profile").string()});
  const auto code = run_any(browser, {.arguments = std::move(arguments),
                                      .folder = folder,
                                      .patience = browser.patience,
                                      .stop = browser.stop});
  if (!code) {
    switch (code.error().code) {
      case ErrorCode::kTimeout:
        return fail(ErrorCode::kTimeout, "the browser did not draw the page in {} s",
                    browser.patience.count());
      case ErrorCode::kClosed:
        return tl::unexpected(code.error());
      default:
        return tl::unexpected(no_browser(code.error().message));
    }
  }
  if (*code != 0) {
    return fail(ErrorCode::kUnavailable, "the browser ended with {}: {}", *code,
                last_words(folder));
  }
  return read_file(folder / "stdout");
}

}  // namespace pareto::report
