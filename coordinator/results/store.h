// Stores runs in one SQLite file. Each trial is one atomic row, replaced whenever one more of its
// rounds was measured. So a killed sweep resumes where it was.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/plan/device_profile.h"

namespace pareto::results {

/// An open database file.
///
/// Threads: one owner. Another process may read the same file meanwhile (write-ahead log). Fails:
/// kExhausted (disk full: what was stored stays readable), kCorrupt (no such database, or of
/// another version), kPermission, kNotFound (no such run).
class ResultStore {
 public:
  /// Opens or creates. `--store`'s default: $XDG_DATA_HOME/pareto-edge/results.db, else
  /// ~/.local/share/….
  static Expected<std::unique_ptr<ResultStore>> open(const std::filesystem::path& path);
  /// Opens the store for a process that only looks: makes neither file nor folder. Fails: kNotFound
  /// if nothing was kept there yet.
  static Expected<std::unique_ptr<ResultStore>> open_existing(const std::filesystem::path& path);
  /// Returns where results are kept by default, from the variables XDG_DATA_HOME and HOME; either
  /// may be null.
  static std::filesystem::path default_path(const char* data_home, const char* home);
  virtual ~ResultStore() = default;

  /// Checks, before minutes of measuring, that results can be kept here. Fails: kPermission.
  virtual Expected<> check_writable() = 0;
  virtual Expected<> begin_run(
      const RunRecord& run) = 0;  ///< the run without its trials; its tag has to be free
  /// Replaces one of that id, and with it the passes of its run: both or neither.
  virtual Expected<> put_trial(const RunRecord& run, const TrialRecord& trial) = 0;
  /// Puts all of them or none.
  virtual Expected<> put_trials(const std::string& run_id,
                                const std::vector<TrialRecord>& trials) = 0;
  /// Stores finished, options, devices, passes and note of a run, and p_front and on_front of all
  /// its trials.
  virtual Expected<> update_run(const RunRecord& run) = 0;
  /// Loads a run with its trials. `id`: whole, a tag, a unique beginning, "last", or "last~1" for
  /// the one before that. The last one is that which was stored last, whatever the clock said.
  virtual Expected<RunRecord> load_run(const std::string& id) = 0;
  /// Returns the whole id of what load_run() takes.
  virtual Expected<std::string> find_run(const std::string& id) = 0;
  /// Returns all runs, the newest first, without samples; of a damaged one, what can be read of it.
  virtual Expected<std::vector<RunRecord>> list_runs() = 0;
  /// Removes a run and its trials. `id` is whole. Fails: kNotFound.
  virtual Expected<> remove_run(const std::string& id) = 0;
  /// Gives a run a name in place of the one it had; "" takes that away. `id` is whole. Fails:
  /// kNotFound; kInvalidArgument (no name, or that of another run).
  virtual Expected<> tag_run(const std::string& id, const std::string& tag) = 0;
  /// Checks that a new run can have that name. Fails: kInvalidArgument.
  virtual Expected<> check_tag(const std::string& tag) = 0;

  /// Keeps what was measured of a device, by coordinator/profile's key; replaces what was kept
  /// under it.
  virtual Expected<> put_profile(const std::string& key, const plan::DeviceProfile& profile) = 0;
  /// Returns the profile; no value if there is none, or one that this build cannot read.
  virtual Expected<std::optional<plan::DeviceProfile>> find_profile(const std::string& key) = 0;
  /// Returns the profiles of a model, by the hexadecimal digits of its digest, those measured last
  /// first. Those that this build cannot read are left out.
  virtual Expected<std::vector<plan::DeviceProfile>> profiles_of(
      const std::string& model_digest) = 0;
};

}  // namespace pareto::results
