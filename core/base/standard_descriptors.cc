#include "core/base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace pareto {

void open_missing_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one: those below it are open.
    const int access = number == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    static_cast<void>(::open("/dev/null", access));
  }
}

}  // namespace pareto
