#include "core/base/start_again.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace pareto {

void start_again(char** argv) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  ::execv(program.c_str(), argv);
}

}  // namespace pareto
