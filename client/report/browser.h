// Chromium without a window: draws a page once and ends. For pictures of the report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::report {

struct Browser {
  /// A name to be looked for along PATH, or a path; empty: Chromium or Chrome, by the names that
  /// they have in distributions.
  std::string program;
  std::chrono::seconds patience{120};  ///< time for one page; seconds are enough on an idle machine
  int stop = -1;  ///< a descriptor, readable once it is to end early; -1: never
};

/// Runs it with `arguments` (a URL among them) and a profile of its own in `folder`, which is also
/// its home; returns what it wrote to stdout. Fails: kUnavailable (there is none, with what to
/// install; it ended with an error, with its last words), kTimeout, kClosed (stopped), as files do.
/// However it ends, so do its processes.
Expected<std::string> run_browser(const Browser& browser, std::vector<std::string> arguments,
                                  const std::filesystem::path& folder);

}  // namespace pareto::report
