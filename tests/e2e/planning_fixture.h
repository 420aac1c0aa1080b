// What tests of plans share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/e2e/fixture.h"

namespace pareto::test {

class Planning : public EndToEnd {
 protected:
  /// Runs a command on the small model with this test's store.
  std::vector<std::string> planning(const std::string& command,
                                    const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{command, "--store", path("results.db"), "--splits",
                                       "after:features.3,after:features.9"};
    if (std::ranges::find(more, "--transport") == more.end()) {
      arguments.insert(arguments.end(), {"--transport", "tcp"});
    }
    const std::vector<std::string> model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

}  // namespace pareto::test
