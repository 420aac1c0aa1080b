// Names of results: each once, however often requests repeat theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace pareto::client::commands {

/// Names for the results of a stream: "photo" at first, "photo-2" the next time, and so on. No name
/// is given twice, also if a request itself is called "photo-2".
///
/// It remembers the stems that were asked for, and not the names that it made of them. A stream
/// that repeats its stems needs no more memory, however long it lasts.
///
/// Threads: one at a time.
class OutputNames {
 public:
  /// Returns a name that begins with `stem`, and that was not returned before.
  std::string take(const std::string& stem);
  /// Takes the last take(stem) back: its name is free again.
  void give_back(const std::string& stem);
  /// Returns the number of stems that are remembered.
  std::size_t remembered() const { return asked_.size(); }

 private:
  /// Returns how often a name was looked at: asked for, or made from a stem that was taken already.
  std::uint64_t times(std::string_view name) const;

  std::map<std::string, std::uint64_t, std::less<>> asked_;  ///< number of requests for each stem
};

}  // namespace pareto::client::commands
