// The end of a program that has nothing left to do.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace pareto {

/// Ends the process with what it has printed. Objects of libraries are not taken apart: LibTorch
/// takes a tenth of a second to forget its operators, a sixth of a short command. Under a sanitizer
/// it returns the code to main(), because leaks are looked for at the end.
///
/// Threads: the main one, when the others have ended.
inline int leave(int exit_code) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(exit_code);
#endif
  return exit_code;
}

}  // namespace pareto
