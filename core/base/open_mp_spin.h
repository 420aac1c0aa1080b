// How long OpenMP's threads look for work before they sleep.
#pragma once

namespace pareto {

/// Lets the threads of GNU's OpenMP sleep after some tens of microseconds, in programs that are
/// started from here: it reads the environment before main(). By default they spin for
/// milliseconds after each operator, and take a core from the workers of another stage or from
/// other programs. What the environment says already stays. Returns whether it was changed.
///
/// Threads: before any is started.
bool shorten_open_mp_spin();

}  // namespace pareto
