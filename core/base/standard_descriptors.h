// Descriptors 0, 1 and 2 of programs that were started without some of them.
#pragma once

namespace pareto {

/// Opens /dev/null in place of each standard descriptor that is closed, so that no file or socket
/// that is opened later takes its number. Reading from such a stdin and writing to such a stdout
/// fail, as they do on closed ones; what is written to such a stderr goes nowhere. If a library has
/// taken such a number before main(), the program is started once more, in the same process. Call
/// it first in main().
void open_missing_descriptors(char** argv);

}  // namespace pareto
