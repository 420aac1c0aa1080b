#include "netem/network_namespace.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "core/base/file.h"
#include "netem/run_program.h"

namespace pareto::netem {
namespace {

tl::unexpected<Error> refused(int number, const std::string& what) {
  if (number == EPERM || number == EACCES) {
    return fail(ErrorCode::kPermission,
                "{}: needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN): run it with sudo", what);
  }
  if (number == EINVAL || number == ENOSYS) {
    return fail(ErrorCode::kUnavailable,
                "{}: this kernel has no network namespaces (CONFIG_NET_NS)", what);
  }
  return tl::unexpected(error_from_errno(number, what));
}

/// Runs `work` on a thread of its own: what the thread changes of itself ends with it.
Expected<> on_a_thread(const std::function<Expected<>()>& work) {
  std::optional<Expected<>> result;
  std::jthread([&] { result = work(); }).join();
  return *std::move(result);
}

Expected<FileDescriptor> open_at(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return refused(errno, path);
  return file;
}

}  // namespace

Expected<NetworkNamespace> NetworkNamespace::create() {
  FileDescriptor file;
  const auto make = [&]() -> Expected<> {
    if (::unshare(CLONE_NEWNET) != 0) return refused(errno, "making a network namespace");
    PARETO_ASSIGN(file, open_at("/proc/thread-self/ns/net"));
    return run_program({"ip", "link", "set", "dev", "lo", "up"});
  };
  PARETO_TRY(on_a_thread(make));
  return NetworkNamespace(std::move(file));
}

Expected<NetworkNamespace> NetworkNamespace::open(const std::string& name) {
  auto file = open_at("/run/netns/" + name);
  if (!file && file.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound, "no network namespace \"{0}\": make it with ip netns add {0}",
                name);
  }
  PARETO_TRY(file);
  return NetworkNamespace(*std::move(file));
}

Expected<NetworkNamespace> NetworkNamespace::open_file(const std::string& path) {
  PARETO_ASSIGN(FileDescriptor file, open_at(path));
  if (::ioctl(file.get(), NS_GET_NSTYPE) != CLONE_NEWNET) {
    return fail(ErrorCode::kInvalidArgument, "{} is no network namespace", path);
  }
  return NetworkNamespace(std::move(file));
}

Expected<NetworkNamespace> NetworkNamespace::copy() const {
  FileDescriptor file(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!file) return tl::unexpected(error_from_errno(errno, "copying a descriptor"));
  return NetworkNamespace(std::move(file));
}

std::string NetworkNamespace::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get());
}

Expected<> NetworkNamespace::enter() const {
  if (::setns(file_.get(), CLONE_NEWNET) == 0) return {};
  return refused(errno, "entering a network namespace");
}

Expected<> NetworkNamespace::run(const std::function<Expected<>()>& work) const {
  return on_a_thread([&]() -> Expected<> {
    PARETO_TRY(enter());
    return work();
  });
}

}  // namespace pareto::netem
