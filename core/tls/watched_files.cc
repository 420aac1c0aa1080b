#include "core/tls/watched_files.h"

#include <sys/stat.h>

namespace pareto::tls {

FileStamp stamp_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return {status.st_ino,
          status.st_size,
          {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
           status.st_ctim.tv_nsec}};
}

}  // namespace pareto::tls
