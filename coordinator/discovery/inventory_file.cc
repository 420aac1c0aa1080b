#include "coordinator/discovery/inventory_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/json_text.h"

namespace pareto::discovery {
namespace {

Expected<> write_all(const FileDescriptor& file, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(error_from_errno(errno, name));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

std::string inventory_text(std::span<const FoundDevice> devices) {
  std::string text =
      "# Written by paretoctl discover. Order matters: stage 0 of a plan runs on the first device. "
      "Addresses that the\n# network gives out may change: then name hosts that DNS knows.\n"
      "devices:\n";
  for (const FoundDevice& device : devices) {
    // Between quotes JSON's escapes are YAML's.
    text += fmt::format("  - name: {}\n    address: {}\n    # {}{}{}\n", dump(device.name),
                        dump(device.control_address()), device.host,
                        device.version.empty() ? "" : ", version ", device.version);
  }
  return text;
}

Expected<> check_new_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  return fail(ErrorCode::kInvalidArgument, "{} is there already, and is not written over",
              path.string());
}

Expected<> write_inventory(const std::filesystem::path& path,
                           std::span<const FoundDevice> devices) {
  PARETO_TRY(check_new_file(path));
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return tl::unexpected(error_from_errno(errno, path.string()));
  auto written = write_all(file, inventory_text(devices), path.string());
  if (!written) ::unlink(path.c_str());
  return written;
}

}  // namespace pareto::discovery
