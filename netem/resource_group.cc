#include "netem/resource_group.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>

#include "core/base/control_group.h"
#include "core/base/file.h"
#include "core/base/process_handle.h"
#include "core/base/text.h"

namespace pareto::netem {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOurs = "pareto-edge";
constexpr std::chrono::seconds kPatience{5};
constexpr const char* kMemory = "memory";

/// A control file takes one value a write, and says by errno what it thinks of it.
Expected<> write_control(const fs::path& file, const std::string& value) {
  errno = 0;
  std::ofstream out(file);
  if (out << value << std::flush) return {};
  return tl::unexpected(error_from_errno(errno == 0 ? EIO : errno, file.string()));
}

std::vector<pid_t> processes_in(const fs::path& folder) {
  std::vector<pid_t> found;
  for (const std::string& line :
       split_list(read_file(folder / "cgroup.procs", 1 << 20).value_or(""), '\n')) {
    pid_t process = 0;
    std::from_chars(line.data(), line.data() + line.size(), process);
    if (process > 0) found.push_back(process);
  }
  return found;
}

/// Ends what is in a group.
void make_empty(const fs::path& folder) {
  for (const pid_t process : processes_in(folder)) {
    const auto handle = ProcessHandle::open(process);
    if (!handle) continue;  // it has ended
    static_cast<void>(handle->signal(SIGKILL));
    static_cast<void>(handle->wait_for_end(deadline_after(kPatience)));
  }
}

/// A folder of a control group has no other content than groups below it: those go first.
Expected<> remove_tree(const fs::path& folder) {
  std::error_code gone;
  std::vector<fs::path> below;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, gone)) {
    if (entry.is_directory(gone)) below.push_back(entry.path());
  }
  for (const fs::path& group : below) PARETO_TRY(remove_tree(group));
  make_empty(folder);
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
  return fail(ErrorCode::kUnavailable, "the control group {} cannot be removed: {}",
              folder.string(), error_from_errno(errno, "rmdir").message);
}

/// The kernel's rule of version 2: a group that hands its controllers down holds no processes
/// itself.
Expected<> hand_down(const fs::path& folder) {
  auto done = write_control(folder / "cgroup.subtree_control", fmt::format("+{}", kMemory));
  if (done) return done;
  return fail(done.error().code == ErrorCode::kPermission ? ErrorCode::kPermission
                                                          : ErrorCode::kUnavailable,
              "no control groups for {} below {}: {} (a container must not run its processes in "
              "the root of its groups)",
              kMemory, folder.string(), done.error().message);
}

/// Makes the folder "pareto-edge/two-pi4/pi-1" of a tree; in version 2 each level must be told to
/// hand its controllers down.
Expected<fs::path> make_folder(const ControllerTree& tree, const std::string& name) {
  fs::path folder = tree.root;
  for (const fs::path& part : fs::path(kOurs) / name) {
    if (tree.version == 2) PARETO_TRY(hand_down(folder));
    folder /= part;
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return tl::unexpected(error_from_errno(errno, "making the control group " + folder.string()));
    }
  }
  return folder;
}

}  // namespace

Expected<ResourceGroup> ResourceGroup::create(const std::string& name, std::uint64_t memory_bytes) {
  ResourceGroup group;
  if (memory_bytes == 0) return group;
  PARETO_ASSIGN(const ControllerTree tree, find_controller(kMemory));
  PARETO_ASSIGN(const fs::path folder, make_folder(tree, name));
  make_empty(folder);
  group.folder_ = folder;
  PARETO_TRY(write_control(folder / (tree.version == 2 ? "memory.max" : "memory.limit_in_bytes"),
                           std::to_string(memory_bytes)));
  // Nor more of it swapped out; kernels that count no swap lack the file.
  const fs::path swap =
      folder / (tree.version == 2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
  std::error_code absent;
  if (fs::exists(swap, absent)) {
    PARETO_TRY(write_control(swap, tree.version == 2 ? "0" : std::to_string(memory_bytes)));
  }
  return group;
}

ResourceGroup::~ResourceGroup() {
  if (folder_.empty()) return;
  static_cast<void>(remove_tree(folder_));
  // What was made above it goes with the last group in it.
  static_cast<void>(::rmdir(folder_.parent_path().c_str()));
  static_cast<void>(::rmdir(folder_.parent_path().parent_path().c_str()));
}

Expected<> ResourceGroup::add(pid_t process) {
  if (folder_.empty()) return {};
  return write_control(folder_ / "cgroup.procs", std::to_string(process));
}

Expected<> remove_groups(const std::string& name) {
  const auto tree = find_controller(kMemory);
  if (!tree) return {};
  const fs::path folder = tree->root / kOurs / name;
  std::error_code gone;
  if (!fs::is_directory(folder, gone)) return {};
  PARETO_TRY(remove_tree(folder));
  static_cast<void>(::rmdir(folder.parent_path().c_str()));
  return {};
}

}  // namespace pareto::netem
