// paretoctl behind its main: from arguments to a command, and from what came of it to an exit code.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client {

/// Runs one of all commands.
int run_program(const std::vector<std::string>& arguments, Context& context);
/// Runs the program. `arguments`: those without the program's name. The only place that prints an
/// error, once: "paretoctl: …" on context.err. Returns an exit code of client/command.h.
int run_program(const std::vector<std::string>& arguments, const Commands& commands,
                Context& context);

/// Returns what an error that reached the top in that phase means to a script.
int exit_code_of(ErrorCode code, Phase phase);

/// Returns the daemon's program: next to `program` or its front, else in a folder of `path`
/// ("/usr/bin:/bin"). If there is none, returns "paretod"; starting it then fails and says so.
std::filesystem::path find_paretod(const std::filesystem::path& program, const std::string& path);

/// Returns a command line as it could be typed again.
std::string quoted_command_line(const std::vector<std::string>& arguments);

}  // namespace pareto::client
