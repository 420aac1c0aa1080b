#include "daemon/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cstdio>
#include <utility>

// Lines say themselves where they were written.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

namespace pareto::daemon {

bool is_journal_stream(int fd, const char* journal_stream) {
  struct stat file {};
  if (journal_stream == nullptr || ::fstat(fd, &file) != 0) return false;
  return journal_stream == fmt::format("{}:{}", file.st_dev, file.st_ino);
}

std::vector<std::string> journal_entry(const std::string& program, const LogLine& line) {
  // syslog's numbers: debug, info, warning, err.
  static constexpr std::array kPriorities{7, 6, 4, 3};
  std::vector<std::string> entry{
      fmt::format("MESSAGE={}", line.text),
      fmt::format("PRIORITY={}", kPriorities[static_cast<std::size_t>(line.level)]),
      fmt::format("SYSLOG_IDENTIFIER={}", program)};
  if (!line.place.file.empty()) {
    entry.push_back(fmt::format("CODE_FILE={}", line.place.file));
    entry.push_back(fmt::format("CODE_LINE={}", line.place.line));
    entry.push_back(fmt::format("CODE_FUNC={}", line.place.function));
  }
  for (const LogField& field : line.fields) {
    entry.push_back(fmt::format("{}={}", field.name, field.value));
  }
  return entry;
}

LogOutput to_journal(std::string program) {
  return [program = std::move(program)](const LogLine& line) {
    std::vector<std::string> entry = journal_entry(program, line);
    std::vector<iovec> parts;
    for (std::string& field : entry) parts.push_back({field.data(), field.size()});
    if (::sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.text.size()), line.text.data());
    }
  };
}

}  // namespace pareto::daemon
