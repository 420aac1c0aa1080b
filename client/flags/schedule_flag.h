// The flag for how a device's cores share a shard: --schedule.
#pragma once

#include <string>

#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client {

/// Adds --schedule. `value`: how its value is called in --help; `more`: what is said behind the
/// help.
void add_schedule(CLI::App& app, std::string& schedule, const std::string& value = "NAME|FILE",
                  const std::string& more = "");
/// Returns the schedule that a value of `flag` names: a name as it is, and the canonical text of
/// the program in a file, whose name ends in .yaml, .yml or .json.
/// Fails: kNotFound (a name that there is not, a file), kInvalidArgument (the program), each naming
/// the flag.
Expected<std::string> read_schedule(const std::string& text,
                                    const std::string& flag = "--schedule");
/// Returns the canonical text of the program in a file, whatever that is called. Fails: as
/// read_schedule().
Expected<std::string> read_program(const std::string& path, const std::string& flag);

}  // namespace pareto::client
