#include "tests/support/paretod.h"

namespace pareto::test {

std::vector<std::string> paretod_arguments(const std::string& name,
                                           const std::filesystem::path& state_dir,
                                           const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"paretod",
                                     "--listen",
                                     "127.0.0.1:0",
                                     "--data",
                                     "tcp=127.0.0.1:0",
                                     "--data",
                                     "grpc=127.0.0.1:0",
                                     "--name",
                                     name,
                                     "--state-dir",
                                     state_dir.string(),
                                     "--ready-fd",
                                     "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace pareto::test
