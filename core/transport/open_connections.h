// Counts the connections of each site that are open, of those that were given away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pareto::transport {

/// Connections by site. Their new owners close them and tell nobody: the kernel is asked, by the
/// number that it gives to each socket once, as soon as a site seems to have too many.
///
/// Threads: one owner.
class OpenConnections {
 public:
  /// Sites may have `most` connections each.
  explicit OpenConnections(std::size_t most) : most_(most) {}

  /// Counts one more. Returns false if its site has that many already: it is not counted then.
  bool add(const std::string& site, int descriptor);
  /// Ends the oldest connection of the site that has the most, so that a site with fewer gets one
  /// more. Returns false if no site has at least two more than `site`. Its owner closes what is
  /// ended.
  bool make_room(const std::string& site);

 private:
  struct Connection {
    int descriptor = -1;
    std::uint64_t socket = 0;  ///< the kernel's number for it
  };
  static bool is_closed(const Connection& connection);
  void forget_closed();

  const std::size_t most_;
  std::map<std::string, std::vector<Connection>> of_sites_;
  std::size_t counted_ = 0;
  std::size_t most_remembered_ = 64;  ///< the count at which all are looked at
};

}  // namespace pareto::transport
