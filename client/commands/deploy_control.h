// What other programs of this user may ask of a running `deploy`, over a socket of its own.
//
//   paretoctl resplit ──▶ RUNTIME FOLDER/deploy-PID.sock ──▶ DeployControl ──▶ the deployment
//
// Each side says lines of JSON. The one that connected asks once:
//   {"ask":"describe"}                          the answer is {"name":…,"pid":…,"model":…,…}
//   {"ask":"resplit","plan":{…}}                a plan as files hold it (core/plan/FORMAT.md)
//   {"ask":"resplit","split":"after:layer2"}    the plan that runs, cut there
// A resplit is answered by {"done":{…}}. Any question may be answered by {"error":…,"code":…}.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/cluster/line_channel.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client::commands {

/// The longest line of either side: a plan of a large model fits often.
inline constexpr std::size_t kMostControlBytes = std::size_t{1} << 20;
/// The time that a side has to say its line, if it need not work for it.
inline constexpr std::chrono::seconds kControlPatience{5};

/// A deployment that answers.
class ControlledDeployment {
 public:
  virtual ~ControlledDeployment() = default;
  /// Says what it is. Threads: any.
  virtual nlohmann::ordered_json describe() const = 0;
  /// Changes to the plan of the question; returns how that went. Threads: one at a time.
  /// Fails: with why it did not.
  virtual Expected<nlohmann::ordered_json> resplit(const nlohmann::json& question) = 0;
};

/// Answers until it ends. One resplit is under way at a time; another one is refused meanwhile.
///
/// Threads: one owner; two of its own.
class DeployControl {
 public:
  /// Listens at a file, in a private folder that is made. The deployment outlives it. Fails: as
  /// make_private_folder() and cluster::listen_at().
  static Expected<std::unique_ptr<DeployControl>> open(const std::filesystem::path& file,
                                                       ControlledDeployment& deployment);
  /// Waits for a resplit that is under way: the stream must have ended, or end.
  ~DeployControl();
  DeployControl(const DeployControl&) = delete;
  DeployControl& operator=(const DeployControl&) = delete;

 private:
  DeployControl(std::filesystem::path file, FileDescriptor listener, FileDescriptor wake,
                ControlledDeployment& deployment);
  void serve();
  void answer(cluster::LineChannel peer);
  void begin_resplit(cluster::LineChannel peer, nlohmann::json question);

  const std::filesystem::path file_;
  const FileDescriptor listener_;
  const FileDescriptor wake_;
  ControlledDeployment& deployment_;
  std::atomic<bool> at_work_{false};
  std::jthread resplitting_;
  std::jthread serving_;  // last: it uses all of the above
};

/// A deployment that was found. Threads: one owner.
struct FoundDeployment {
  std::filesystem::path file;
  nlohmann::json description;
};
/// Deployments of a folder. Threads: one owner.
struct FoundDeployments {
  std::vector<FoundDeployment> answering;     ///< sorted by their process ids
  std::vector<std::filesystem::path> silent;  ///< files of those that are there and do not answer
};
/// Returns the deployments of a folder; none if there is no such folder.
FoundDeployments find_deployments(const std::filesystem::path& folder);
/// Asks a deployment to resplit, and waits for its answer until `stop` is readable (-1: never).
/// Fails: with its reason; kUnavailable (it ended), kClosed (stopped; it goes on with it).
Expected<nlohmann::json> ask_to_resplit(const std::filesystem::path& file,
                                        const nlohmann::json& question, int stop);

/// Returns where a `deploy` of that process listens in a folder.
std::filesystem::path control_file(const std::filesystem::path& folder, int pid);

}  // namespace pareto::client::commands
