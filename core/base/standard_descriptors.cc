#include "core/base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

#include "core/base/start_again.h"

namespace pareto {
namespace {

/// Puts /dev/null at that number, whatever is there.
void open_null(int number) {
  const int access = number == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
  const int opened = ::open("/dev/null", access);
  if (opened < 0 || opened == number) return;
  ::dup2(opened, number);
  ::close(opened);
}

}  // namespace

void open_missing_descriptors(char** argv) {
  bool taken = false;
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int flags = ::fcntl(number, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) continue;
    // One that ends with exec was not inherited: a library opened it before main(), and needs it.
    taken = taken || flags >= 0;
    open_null(number);
  }
  if (!taken) return;
  start_again(argv);
  ::_exit(EXIT_FAILURE);
}

}  // namespace pareto
