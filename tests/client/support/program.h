// paretoctl inside the test: its arguments in, exit code and words out. No daemon can be started.
#pragma once

#include <atomic>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "client/program.h"

namespace pareto::client {

class NeverStopped final : public StopSignal {
 public:
  const std::atomic<bool>& watch() override { return stop_; }

 private:
  std::atomic<bool> stop_{false};
};

struct Done {
  int code = -1;
  std::string out;
  std::string err;
};

/// What it keeps is in `folder`.
inline Done run_in(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  NeverStopped stop;
  Context context{.out = out,
                  .err = err,
                  .command_line = quoted_command_line(arguments),
                  .paretod = folder / "no-paretod",
                  .default_store = folder / "results.db",
                  .stop = stop};
  const int code = run_program(arguments, context);
  return {code, out.str(), err.str()};
}

}  // namespace pareto::client
