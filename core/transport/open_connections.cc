#include "core/transport/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>

#include "core/base/file_descriptor.h"

namespace pareto::transport {
namespace {

/// Returns the number that the kernel gives to no other socket; 0: the descriptor is none.
std::uint64_t socket_number(int descriptor) {
  std::uint64_t number = 0;
  socklen_t size = sizeof number;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &number, &size) != 0) return 0;
  return number;
}

}  // namespace

bool OpenConnections::is_closed(const Connection& connection) {
  // A kernel without such numbers cannot tell: nothing is counted for long.
  if (connection.socket == 0) return true;
  return socket_number(connection.descriptor) != connection.socket;
}

bool OpenConnections::add(const std::string& site, int descriptor) {
  if (counted_ >= most_remembered_) forget_closed();
  std::vector<Connection>& known = of_sites_[site];
  if (known.size() >= most_) counted_ -= std::erase_if(known, is_closed);
  if (known.size() >= most_) return false;
  known.push_back({descriptor, socket_number(descriptor)});
  ++counted_;
  return true;
}

bool OpenConnections::make_room(const std::string& site) {
  forget_closed();
  const auto largest = std::ranges::max_element(
      of_sites_, {}, [](const auto& entry) { return entry.second.size(); });
  const auto own = of_sites_.find(site);
  const std::size_t has = own == of_sites_.end() ? 0 : own->second.size();
  if (largest == of_sites_.end() || largest->second.size() < has + 2) return false;
  const Connection oldest = largest->second.front();
  largest->second.erase(largest->second.begin());
  --counted_;
  // The owner may close it meanwhile, and the number may be another socket's then.
  const FileDescriptor copy(::fcntl(oldest.descriptor, F_DUPFD_CLOEXEC, 0));
  if (copy && socket_number(copy.get()) == oldest.socket) ::shutdown(copy.get(), SHUT_RDWR);
  return true;
}

void OpenConnections::forget_closed() {
  counted_ = 0;
  for (auto& [site, known] : of_sites_) {
    std::erase_if(known, is_closed);
    counted_ += known.size();
  }
  std::erase_if(of_sites_, [](const auto& entry) { return entry.second.empty(); });
  // Looking at all of them costs no more than what has come since.
  most_remembered_ = std::max<std::size_t>(64, 2 * counted_);
}

}  // namespace pareto::transport
