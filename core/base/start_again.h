// Starting the running program once more, in the same process.
#pragma once

namespace pareto {

/// Runs the program again with those arguments and the present environment. Returns only if it
/// cannot. Call it in main(), before threads are started.
void start_again(char** argv);

}  // namespace pareto
