// Configuration files, read whole and validated whole before anything is applied. A key that nobody
// asked for is an error with file, line and the nearest key that exists.
//
//   PARETO_ASSIGN(auto file, ConfigReader::from_file("/etc/pareto-edge/paretod.yaml"));
//   auto root = file.root();
//   root.optional("listen", config.listen);
//   if (auto store = root.section("store")) {
//     store->optional_bytes("limit", config.store_limit_bytes);
//   }
//   PARETO_TRY(file.finish());
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto {

namespace config_detail {
struct Document;
struct Node;
}  // namespace config_detail

/// A mapping in the file. The reading functions leave their target untouched where the key is
/// absent, and note a problem (shown by finish()) where the value does not fit. It
/// has a method for each kind of value: this is why there are more than 20. Threads: one owner.
class ConfigSection {
 public:
  void optional(const std::string& key, std::string& target);
  void optional(const std::string& key, bool& target);
  void optional(const std::string& key, int& target);
  void optional(const std::string& key, double& target);
  void optional(const std::string& key, std::vector<std::string>& target);
  /// Reads a size: "256MiB".
  void optional_bytes(const std::string& key, std::uint64_t& target);
  /// Reads a duration: "20ms".
  void optional_duration(const std::string& key, std::chrono::nanoseconds& target);
  /// Reads a share up to 100%: "1%", as 0.01.
  void optional_share(const std::string& key, double& target);
  /// Reads a percentage, which may be more than 100%: "150%", as 1.5.
  void optional_percentage(const std::string& key, double& target);
  /// Reads a rate, in bits per second: "100mbit".
  void optional_rate(const std::string& key, std::uint64_t& target);
  /// Reads a power, in milliwatts: "5W".
  void optional_power(const std::string& key, std::int64_t& target);
  /// Reads like optional(), but an absent key is a problem too.
  void required(const std::string& key, std::string& target);

  bool has(const std::string& key) const;
  /// Returns whether a key has a list of nothing: [].
  bool has_empty_list(const std::string& key) const;
  /// Returns a nested mapping; none where absent.
  std::optional<ConfigSection> section(const std::string& key);
  /// Returns a list of mappings; empty where absent.
  std::vector<ConfigSection> sections(const std::string& key);
  /// Returns the keys of a mapping of name to text, in file order ("tcp": "0.0.0.0:7071"); all of
  /// them count as asked for.
  std::vector<std::pair<std::string, std::string>> entries();

  /// Returns "paretod.yaml:12": where this section, or the value of one of its keys, stands.
  std::string where() const;
  std::string where(const std::string& key) const;
  /// Notes a problem of the caller's own validation at a key.
  void problem(const std::string& key, const std::string& sentence);

 private:
  friend class ConfigReader;
  ConfigSection(std::shared_ptr<config_detail::Document> document,
                std::shared_ptr<config_detail::Node> node);
  template <typename T>
  void read(const std::string& key, T& target, const char* wanted);
  template <typename T, typename Parse>
  void read_quantity(const std::string& key, T& target, Parse parse);

  std::shared_ptr<config_detail::Document> document_;
  std::shared_ptr<config_detail::Node> node_;
};

/// A document that is being read, with all problems that were found in it.
///
/// Threads: one owner.
class ConfigReader {
 public:
  /// Reads at most 1 MiB of YAML. Fails: kNotFound, kPermission, kInvalidArgument (not YAML: with
  /// line and column).
  static Expected<ConfigReader> from_file(const std::filesystem::path& path);
  static Expected<ConfigReader> from_text(const std::string& text, const std::string& name);

  ConfigSection root();
  /// Fails with kInvalidArgument if a problem was noted, if a key was not asked for, or stands
  /// twice. The error has a line for each.
  Expected<> finish();

 private:
  explicit ConfigReader(std::shared_ptr<config_detail::Document> document);
  std::shared_ptr<config_detail::Document> document_;
};

}  // namespace pareto
