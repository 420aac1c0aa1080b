#include "netem/emulation_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/base/file.h"
#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::netem {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxRecordBytes = 64 << 10;
constexpr std::chrono::milliseconds kLookEvery{5};

/// Returns when a process began, in ticks since boot. Fails: kNotFound (it is not there).
Expected<std::uint64_t> start_of(pid_t pid) {
  PARETO_ASSIGN(const std::string stat, read_file(fmt::format("/proc/{}/stat", pid)));
  // The 22nd word; the second, the program's name in parentheses, may hold anything.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return fail(ErrorCode::kUnavailable, "an odd /proc");
  std::istringstream words(stat.substr(name_end + 1));
  std::string word;
  constexpr int kWordsToStart = 20;
  for (int i = 0; i < kWordsToStart; ++i) words >> word;
  std::uint64_t start = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), start);
  if (problem != std::errc{}) return fail(ErrorCode::kUnavailable, "an odd /proc");
  return start;
}

Expected<std::string> this_boot() {
  PARETO_ASSIGN(std::string id, read_file("/proc/sys/kernel/random/boot_id"));
  std::erase(id, '\n');
  return id;
}

/// Returns why records cannot be kept there: most often the folder is root's, as all that they are
/// about.
Error unusable(int error, const fs::path& path) {
  Error problem = error_from_errno(error, path.string());
  if (problem.code == ErrorCode::kPermission) {
    problem.message += ": changing an interface's network needs root: run it with sudo";
  }
  return problem;
}

}  // namespace

std::string to_json(const EmulationRecord& record) {
  nlohmann::ordered_json json{
      {"format", kFormat},         {"interface", record.interface}, {"index", record.index},
      {"name", record.name},       {"boot", record.boot},           {"pid", record.pid},
      {"started", record.started}, {"kept", record.kept},           {"ifb", record.ifb}};
  if (record.most_segments) json["most_segments"] = *record.most_segments;
  if (record.joins_incoming) json["joins_incoming"] = *record.joins_incoming;
  return dump(json, 2) + "\n";
}

Expected<EmulationRecord> parse_emulation_record(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json_integer_at<int>(json, "format") != kFormat) {
      return fail(ErrorCode::kCorrupt, "a record of another format");
    }
    EmulationRecord record;
    json.at("interface").get_to(record.interface);
    record.index = json_integer_at<decltype(record.index)>(json, "index");
    json.at("name").get_to(record.name);
    json.at("boot").get_to(record.boot);
    record.pid = json_integer_at<decltype(record.pid)>(json, "pid");
    record.started = json_integer_at<decltype(record.started)>(json, "started");
    json.at("kept").get_to(record.kept);
    json.at("ifb").get_to(record.ifb);
    if (json.contains("most_segments")) {
      record.most_segments = json_integer_at<std::uint32_t>(json, "most_segments");
    }
    if (json.contains("joins_incoming")) record.joins_incoming = json["joins_incoming"].get<bool>();
    // Devices of other names are not ours to end.
    if (!record.ifb.empty() && !record.ifb.starts_with(kIfbPrefix)) {
      return fail(ErrorCode::kCorrupt, "\"{}\" is no device of an emulation", record.ifb);
    }
    return record;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "not a record of an emulation: {}", json_reason(error));
  }
}

Expected<EmulationRecord> record_of_this_process() {
  EmulationRecord record;
  PARETO_ASSIGN(record.boot, this_boot());
  record.pid = ::getpid();
  PARETO_ASSIGN(record.started, start_of(record.pid));
  return record;
}

bool owner_lives(const EmulationRecord& record) {
  const auto start = start_of(record.pid);
  return is_of_this_boot(record) && start && *start == record.started;
}

bool is_of_this_boot(const EmulationRecord& record) {
  const auto boot = this_boot();
  return boot && *boot == record.boot;
}

Expected<RecordFolder> RecordFolder::hold(const fs::path& folder, Nanoseconds patience) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return tl::unexpected(unusable(problem.value(), folder));
  // Held also by who may only read it: a service of a user of its own, where root made it.
  const fs::path file = folder / "lock";
  FileDescriptor lock(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock) return tl::unexpected(unusable(errno, file));
  const TimePoint end = std::chrono::steady_clock::now() + patience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return tl::unexpected(error_from_errno(errno, "locking " + file.string()));
    }
    if (std::chrono::steady_clock::now() >= end) {
      return fail(
          ErrorCode::kUnavailable,
          "{} is held by another process, a daemon or paretoctl netem at work or any that can "
          "read it (lslocks shows which): end it, or try again",
          file.string());
    }
    std::this_thread::sleep_for(kLookEvery);
  }
  struct stat where {};
  if (::stat("/proc/thread-self/ns/net", &where) != 0) {
    return tl::unexpected(error_from_errno(errno, "/proc/thread-self/ns/net"));
  }
  return RecordFolder(folder, fmt::format("-{}.json", where.st_ino), std::move(lock));
}

Expected<> RecordFolder::check_writable() const {
  if (::access(folder_.c_str(), W_OK) == 0) return {};
  return tl::unexpected(unusable(errno, folder_));
}

std::vector<RecordFolder::Entry> RecordFolder::list() const {
  std::vector<Entry> all;
  std::error_code problem;
  for (const auto& file : fs::directory_iterator(folder_, problem)) {
    std::string name = file.path().filename().string();
    if (!name.ends_with(suffix_)) continue;
    name.resize(name.size() - suffix_.size());
    if (auto entry = find(name)) all.push_back(*std::move(entry));
  }
  std::ranges::sort(all, {}, &Entry::interface);
  return all;
}

std::optional<RecordFolder::Entry> RecordFolder::find(const std::string& interface) const {
  const auto text = read_file(path_of(interface), kMaxRecordBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return Entry{interface, fail(ErrorCode::kCorrupt, "{}", text.error().message)};
  auto record = parse_emulation_record(*text);
  if (record && record->interface != interface) {
    record = fail(ErrorCode::kCorrupt, "a record of another interface");
  }
  return Entry{interface, with_context(std::move(record), "{}", path_of(interface).string())};
}

Expected<> RecordFolder::write(const EmulationRecord& record) const {
  return write_file_atomically(path_of(record.interface), to_json(record));
}

void RecordFolder::remove(const std::string& interface) const {
  std::error_code gone_already;
  fs::remove(path_of(interface), gone_already);
}

fs::path RecordFolder::path_of(const std::string& interface) const {
  return folder_ / (interface + suffix_);
}

}  // namespace pareto::netem
