#include "daemon/control/socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

Expected<sockaddr_un> address_of(const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "it names no file: write unix:/FILE, as in unix:/run/paretod.socket");
  }
  if (file.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::kInvalidArgument, "a socket's name has at most {} characters",
                sizeof address.sun_path - 1);
  }
  file.copy(address.sun_path, file.size());
  return address;
}

FileDescriptor make_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Error another_listens() {
  return {ErrorCode::kPermission,
          "another process listens there, most likely a paretod; stop it, or give this one another "
          "--listen"};
}

/// Returns whether a process listens there. Its backlog may be full: it listens all the same.
bool is_listened_on(const sockaddr_un& address) {
  const FileDescriptor socket = make_socket();
  return ::connect(socket.get(), generic(address), sizeof address) == 0 || errno == EAGAIN;
}

/// Returns the file's number on its device; 0: there is none.
ino_t inode_of(const std::filesystem::path& file) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

Expected<SocketFile> SocketFile::listen(const std::filesystem::path& file) {
  PARETO_ASSIGN(const sockaddr_un address, address_of(file.string()));
  PARETO_ASSIGN(auto lock, LockFile::try_take(file.string() + ".lock"));
  if (!lock) return tl::unexpected(another_listens());
  FileDescriptor socket = make_socket();
  if (!socket) return tl::unexpected(error_from_errno(errno, "making a socket"));
  bool bound = ::bind(socket.get(), generic(address), sizeof address) == 0;
  if (!bound && errno == EADDRINUSE) {
    if (is_listened_on(address)) return tl::unexpected(another_listens());
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode)) {
      return fail(ErrorCode::kPermission, "a file of that name is there, and is no socket");
    }
    ::unlink(file.c_str());
    bound = ::bind(socket.get(), generic(address), sizeof address) == 0;
  }
  if (!bound) {
    return fail(ErrorCode::kPermission, "{}",
                error_from_errno(errno, "making the socket's file").message);
  }
  SocketFile made(file, std::move(socket), *std::move(lock));
  // Whatever the mask of new files is: connecting takes leave to write.
  if (::chmod(file.c_str(), 0660) != 0 || ::listen(made.socket_.get(), SOMAXCONN) != 0) {
    return tl::unexpected(error_from_errno(errno, "listening"));
  }
  return made;
}

SocketFile::SocketFile(std::filesystem::path file, FileDescriptor socket, LockFile lock)
    : lock_(std::move(lock)),
      file_(std::move(file)),
      socket_(std::move(socket)),
      inode_(inode_of(file_)) {}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : lock_(std::move(other.lock_)),
      file_(std::exchange(other.file_, {})),
      socket_(std::move(other.socket_)),
      inode_(other.inode_) {}

SocketFile::~SocketFile() {
  if (!file_.empty() && inode_of(file_) == inode_) ::unlink(file_.c_str());
}

}  // namespace pareto::daemon
