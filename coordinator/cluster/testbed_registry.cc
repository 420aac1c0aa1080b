#include "coordinator/cluster/testbed_registry.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/clock.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/base/process_handle.h"
#include "netem/resource_group.h"

namespace pareto::cluster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFile = "testbed.json";
constexpr std::uint64_t kLimit = 1 << 20;
constexpr std::chrono::seconds kLongestStop{30};
constexpr std::chrono::milliseconds kLookersTime{100};
constexpr std::chrono::seconds kPatienceAfterKill{5};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names that the library looks for
static void to_json(Json& json, const RunningDevice& device) {
  json = {{"name", device.name},       {"preset", device.preset},
          {"control", device.control}, {"place", device.place},
          {"process", device.process}, {"speed", device.speed},
          {"steady", device.steady},   {"memory_bytes", device.memory_bytes}};
}
static void from_json(const Json& json, RunningDevice& device) {
  json.at("name").get_to(device.name);
  json.at("preset").get_to(device.preset);
  json.at("control").get_to(device.control);
  json.at("place").get_to(device.place);
  json.at("process").get_to(device.process);
  json.at("speed").get_to(device.speed);
  // Of an earlier version it may be up still.
  device.steady = json.value("steady", "");
  json.at("memory_bytes").get_to(device.memory_bytes);
}
static void to_json(Json& json, const RunningLink& link) {
  json = {{"first", link.first}, {"second", link.second}, {"network", link.network}};
}
static void from_json(const Json& json, RunningLink& link) {
  json.at("first").get_to(link.first);
  json.at("second").get_to(link.second);
  json.at("network").get_to(link.network);
}
// NOLINTEND(readability-identifier-naming)

namespace {

std::string text_of(const RunningTestbed& bed) {
  return dump({{"name", bed.name},
               {"process", bed.process},
               {"content", bed.content},
               {"network", bed.network},
               {"emulator", bed.emulator},
               {"devices", bed.devices},
               {"links", bed.links}},
              2) +
         "\n";
}

Expected<RunningTestbed> read_running(const fs::path& file) {
  PARETO_ASSIGN(const std::string text, read_file(file, kLimit));
  try {
    const Json json = Json::parse(text);
    return RunningTestbed{json.at("name").get<std::string>(),
                          json.at("process").get<int>(),
                          json.at("content").get<std::string>(),
                          json.at("network").get<std::string>(),
                          json.at("emulator").get<std::string>(),
                          json.at("devices").get<std::vector<RunningDevice>>(),
                          json.at("links").get<std::vector<RunningLink>>()};
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}: {}", file.string(), json_reason(error));
  }
}

/// Returns whether a name that somebody typed stays within the registry.
bool is_one_folder(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

/// Opens a folder that nobody else but root can have put something into: it names processes to end
/// and files to enter. Fails: kNotFound, kPermission.
Expected<FileDescriptor> open_trusted(const fs::path& folder) {
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    return tl::unexpected(error_from_errno(errno, folder.string()));
  }
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return opened;
  return fail(ErrorCode::kPermission,
              "{}: belongs to user {}, who is not to say which test beds are up: remove it",
              folder.string(), status.st_uid);
}

/// Makes it where it is not there. Fails: kPermission, kNotFound (it is no folder, or was removed
/// at once).
Expected<> make_trusted(const fs::path& folder, mode_t mode) {
  const auto failed = [&](int error) -> Expected<> {
    if (error == EACCES || error == EPERM) {
      return fail(ErrorCode::kPermission, "{}: a test bed needs root: run it with sudo",
                  folder.string());
    }
    return tl::unexpected(error_from_errno(error, folder.string()));
  };
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return failed(error.value());
  if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) return failed(errno);
  PARETO_ASSIGN(const FileDescriptor opened, open_trusted(folder));
  return ::fchmod(opened.get(), mode) == 0 ? Expected<>() : failed(errno);
}

}  // namespace

TestbedRegistry::Claim::~Claim() {
  if (!lock_ || folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Expected<> TestbedRegistry::Claim::publish(const RunningTestbed& bed) const {
  return write_file_atomically(folder_ / kFile, text_of(bed));
}

Expected<std::vector<std::string>> TestbedRegistry::names() const {
  std::vector<std::string> found;
  const auto trusted = open_trusted(folder_);
  if (!trusted && trusted.error().code == ErrorCode::kNotFound) return found;
  PARETO_TRY(trusted);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    found.push_back(entry.path().filename().string());
  }
  if (error) {
    return tl::unexpected(error_from_errno(error.value(), folder_.string()));
  }
  std::ranges::sort(found);
  return found;
}

Expected<> TestbedRegistry::repair(const std::string& name) const {
  const fs::path folder = folder_ / name;
  const auto lock = FolderLock::try_take(folder);
  if (!lock && lock.error().code == ErrorCode::kNotFound) return {};
  PARETO_TRY(lock);
  if (!*lock) return {};
  // Namespaces, devices and daemons ended with the process that had them; its control groups did
  // not.
  PARETO_TRY(with_context(netem::remove_groups(name), "test bed {}, left behind", name));
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) return tl::unexpected(error_from_errno(error.value(), folder.string()));
  return {};
}

Expected<std::optional<TestbedRegistry::Claim>> TestbedRegistry::claim(
    const std::string& name) const {
  PARETO_TRY(make_trusted(folder_, 0755));
  PARETO_ASSIGN(const auto known, names());
  for (const std::string& one : known) PARETO_TRY(repair(one));
  const fs::path folder = folder_ / name;
  // A process that only looks has it for a moment.
  const TimePoint patience = std::chrono::steady_clock::now() + kLookersTime;
  for (;;) {
    // Others could hold its lock for ever.
    auto lock = make_trusted(folder, 0700).and_then([&] { return FolderLock::try_take(folder); });
    if (lock && *lock) return Claim(folder, *std::move(*lock));
    // Its holder may remove it between the two.
    if (!lock && lock.error().code != ErrorCode::kNotFound) PARETO_TRY(lock);
    if (std::chrono::steady_clock::now() > patience) {
      PARETO_TRY(lock);
      return std::nullopt;
    }
    std::this_thread::yield();
  }
}

Expected<std::optional<RunningTestbed>> TestbedRegistry::find(const std::string& name) const {
  if (!is_one_folder(name)) return std::nullopt;
  const fs::path folder = folder_ / name;
  for (const fs::path& one : {folder_, folder}) {
    const auto trusted = open_trusted(one);
    if (!trusted && trusted.error().code == ErrorCode::kNotFound) return std::nullopt;
    PARETO_TRY(trusted);
  }
  const auto taken = FolderLock::is_taken(folder);
  if (!taken && taken.error().code == ErrorCode::kNotFound) return std::nullopt;
  PARETO_TRY(taken);
  if (!*taken) return std::nullopt;
  auto bed = read_running(folder / kFile);
  if (!bed && bed.error().code == ErrorCode::kNotFound) return std::nullopt;
  PARETO_TRY(bed);
  return *std::move(bed);
}

Expected<std::vector<RunningTestbed>> TestbedRegistry::all() const {
  PARETO_ASSIGN(const auto known, names());
  std::vector<RunningTestbed> beds;
  for (const std::string& name : known) {
    PARETO_ASSIGN(auto bed, find(name));
    if (bed) beds.push_back(*std::move(bed));
  }
  return beds;
}

Expected<bool> TestbedRegistry::end(const std::string& name) const {
  PARETO_ASSIGN(const auto bed, find(name));
  if (!bed) {
    if (!is_one_folder(name)) return false;
    PARETO_TRY(repair(name));
    std::error_code gone;
    if (!fs::exists(folder_ / name, gone)) return false;
    return fail(ErrorCode::kUnavailable, "test bed {} is on its way: try again once it is up",
                name);
  }
  if (const auto process = ProcessHandle::open(bed->process)) {
    const auto ask = [&](int signal) {
      return with_context(process->signal(signal), "ending process {}", bed->process);
    };
    PARETO_TRY(ask(SIGTERM));
    if (!process->wait_for_end(deadline_after(kLongestStop))) {
      PARETO_TRY(ask(SIGKILL));
      static_cast<void>(process->wait_for_end(deadline_after(kPatienceAfterKill)));
    }
  } else if (process.error().code != ErrorCode::kNotFound) {
    return tl::unexpected(process.error());
  }
  PARETO_TRY(repair(name));
  return true;
}

}  // namespace pareto::cluster
