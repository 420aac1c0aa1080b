// The log where stderr goes to systemd's journal: lines with fields that journalctl can be asked
// for, in place of text alone.
//
//   journalctl -u paretod PARETO_PIPELINE=00000000deadbeef
#pragma once

#include <string>
#include <vector>

#include "core/base/log.h"

namespace pareto::daemon {

/// Returns whether a descriptor is the stream that JOURNAL_STREAM ("device:inode", systemd.exec(5))
/// names. journal_stream: the variable's value, null where it is not set.
bool is_journal_stream(int fd, const char* journal_stream);

/// Returns a line as the journal takes it: "NAME=value", the text as MESSAGE, its level as PRIORITY
/// (3, 4, 6 or 7), its place as CODE_*.
std::vector<std::string> journal_entry(const std::string& program, const LogLine& line);

/// Lines go to the journal; to stderr as bare text where it does not take one.
LogOutput to_journal(std::string program);

}  // namespace pareto::daemon
