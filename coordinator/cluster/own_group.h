// Starts children that Ctrl-C in the terminal does not reach.
#pragma once

#include <signal.h>
#include <spawn.h>

namespace pareto::cluster {

/// Attributes for posix_spawn: a process group of its own, and no signal blocked.
class OwnGroup {
 public:
  OwnGroup() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace pareto::cluster
