// What end-to-end tests share: a folder, a small model that cuts and runs in no time, and daemons
// of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace pareto::test {

/// A daemon started by the test, on ports that the system picked.
class Daemon {
 public:
  /// Waits until it says that it serves; throws with its stderr if it does not. `program`: what
  /// comes before the flags.
  Daemon(const std::string& name, const std::filesystem::path& folder,
         const std::vector<std::string>& flags = {},
         std::vector<std::string> program = {"paretod"});
  const std::string& address() const { return address_; }
  /// Returns where it serves metrics; empty: nowhere.
  const std::string& metrics() const { return metrics_; }
  Process& process() { return *process_; }

 private:
  std::unique_ptr<Process> process_;
  std::string address_;
  std::string metrics_;
};

class EndToEnd : public testing::Test {
 protected:
  EndToEnd();
  ~EndToEnd() override;

  static Finished paretoctl(std::vector<std::string> arguments);
  /// Runs the small model, or a plan of it, for three requests, with its output in a file of this
  /// test's folder.
  Finished run_model(const std::vector<std::string>& more, const std::string& output) const;
  /// Returns the arguments of a sweep of the small model with its store in this test's folder, then
  /// `more`.
  std::vector<std::string> small_sweep(const std::vector<std::string>& more) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes an inventory of name and address and returns its path.
  std::string inventory(const std::vector<std::pair<std::string, std::string>>& devices) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Flags of a built-in network made small: few classes, small pictures.
std::vector<std::string> small_model();

/// A .npy file of float32 of that shape, all elements different.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, float first);

}  // namespace pareto::test
