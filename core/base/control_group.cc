#include "core/base/control_group.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto {
namespace {

constexpr std::uint64_t kLargestTable = 1 << 20;

bool has_word(std::string_view text, std::string_view word, char separator) {
  const std::vector<std::string> words = split_list(text, separator);
  return std::ranges::find(words, word) != words.end();
}

/// One line of mountinfo as far as it matters here.
struct Mount {
  std::filesystem::path place;
  std::string kind;
  std::string options;  ///< options of the file system
};

/// Parses a line such as "36 25 0:31 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup
/// rw,cpu": any number of fields stands before the dash.
std::optional<Mount> parse_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return {};
  const auto before = split_list(line.substr(0, dash), ' ');
  const auto behind = split_list(line.substr(dash + 3), ' ');
  if (before.size() < 5 || behind.size() < 3) return {};
  return Mount{before[4], behind[0], behind[2]};
}

}  // namespace

Expected<ControllerTree> find_controller(std::string_view controller) {
  PARETO_ASSIGN(const std::string mounts, read_file("/proc/self/mountinfo", kLargestTable));
  return find_controller(controller, mounts);
}

Expected<ControllerTree> find_controller(std::string_view controller, std::string_view mounts) {
  for (const std::string& line : split_list(mounts, '\n')) {
    const auto mount = parse_mount(line);
    if (!mount) continue;
    if (mount->kind == "cgroup" && has_word(mount->options, controller, ',')) {
      return ControllerTree{mount->place, 1};
    }
    if (mount->kind != "cgroup2") continue;
    const std::string offered =
        read_file(mount->place / "cgroup.controllers", kLargestTable).value_or("");
    if (has_word(std::string_view(offered).substr(0, offered.find('\n')), controller, ' ')) {
      return ControllerTree{mount->place, 2};
    }
  }
  return fail(ErrorCode::kUnavailable,
              "there are no control groups for {0} here: mount them, or give the container the "
              "right to use them",
              controller);
}

std::filesystem::path own_control_group(const ControllerTree& tree, std::string_view controller) {
  const std::string groups = read_file("/proc/self/cgroup", kLargestTable).value_or("");
  for (const std::string& line : split_list(groups, '\n')) {
    // "4:memory:/user" or, in version 2, "0::/user"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (tree.version == 1 ? !has_word(names, controller, ',') : !names.empty()) continue;
    std::filesystem::path group =
        tree.root / std::filesystem::path(line.substr(second + 1)).relative_path();
    std::error_code ignored;
    if (std::filesystem::is_directory(group, ignored)) return group;
  }
  return tree.root;
}

}  // namespace pareto
