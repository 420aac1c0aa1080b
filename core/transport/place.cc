#include "core/transport/place.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

namespace pareto::transport {
namespace {

constexpr std::uint64_t kLimit = 256;

}  // namespace

Place this_place() {
  Place place;
  place.boot = read_file("/proc/sys/kernel/random/boot_id", kLimit).value_or("");
  while (!place.boot.empty() && place.boot.back() == '\n') place.boot.pop_back();
  struct stat network {};
  if (::stat("/proc/self/ns/net", &network) == 0) place.network = network.st_ino;
  place.user = ::geteuid();
  return place;
}

bool share_memory(const Place& one, const Place& other) {
  return !one.boot.empty() && one.boot == other.boot && one.network != 0 &&
         one.network == other.network && one.user == other.user;
}

}  // namespace pareto::transport
