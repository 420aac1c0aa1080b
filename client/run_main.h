// The frame around a command that both programs share: client/main.cc has all commands, and
#pragma once

#include <string>
#include <vector>

#include "client/command.h"

namespace pareto::client {

/// Runs the command that the arguments, without the program's name, ask for, with this process's
/// streams, terminal and environment. Returns an exit code of client/command.h.
int run_main(const std::vector<std::string>& arguments, const Commands& commands);

/// Returns the columns of the terminal behind stdout, or behind stderr if stdout is none.
int columns_of_terminal();

/// Returns where results are kept: PARETO_STORE, or the default.
std::filesystem::path store_of_environment();

}  // namespace pareto::client
