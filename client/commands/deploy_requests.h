// Requests of `deploy`: names of .npy files that are given or piped in, and what becomes of them as
// files and lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/commands/line_reader.h"
#include "client/commands/output_names.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/answer_log.h"
#include "coordinator/load/request_stream.h"
#include "coordinator/load/stream_tally.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// Names of files, of the command line or as they are piped in, as requests. Threads: as
/// RequestSource.
class FileRequests final : public load::RequestSource {
 public:
  /// `output`: the folder for results; empty: they are not kept. No `files`: names are read from
  /// `lines`. No more are taken once `stop` is set.
  FileRequests(Context& context, const model::Model& model, cluster::ModelWorkload& workload,
               std::int64_t plan_batch, const std::filesystem::path& output,
               std::vector<std::string> files, LineReader lines, const std::atomic<bool>& stop);

  /// Leaves out the requests that were answered before, by their numbers. `answers` outlives it.
  /// Call it before the first next().
  void leave_out(const std::map<std::uint64_t, load::HistoryLine>& answers);

  std::optional<load::StreamRequest> next() override;
  void cancel() override;

  /// Returns why the requests ended early; no value if they did not. Threads: any.
  std::optional<Error> problem() const;
  /// Returns whether every request of the input was taken. To be called after the last next().
  bool came_to_end() const;
  /// Returns whether that file of the folder for results was named as an input until now, or is
  /// going to be, as far as is known. Threads: any.
  bool is_input(const std::filesystem::path& file) const;
  /// Returns the names of the command line that were not taken. To be called after the last next().
  std::vector<std::string> rest() const;
  /// Returns the number of requests that were taken. To be called after the last next().
  std::uint64_t taken() const { return requests_taken_; }

 private:
  void add_inputs(const std::string& line);
  std::optional<std::string> next_line();
  /// Returns the next line that is a request.
  std::optional<std::string> next_name();
  /// Returns whether that request was answered before. Fails if the answer is another request's.
  Expected<bool> is_answered(const std::string& name) const;
  Expected<Value> read(const std::string& line, std::int64_t& batch);
  void tell_of_batch(const std::string& request, std::int64_t batch);

  Context& context_;
  const model::Model& model_;
  cluster::ModelWorkload& workload_;
  const std::int64_t plan_batch_;
  const std::filesystem::path output_;
  const std::vector<std::string> files_;
  const bool piped_;
  LineReader lines_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> cancelled_{false};
  std::size_t taken_ = 0;  ///< names of the command line
  std::uint64_t requests_taken_ = 0;
  bool told_of_batch_ = false;
  const std::map<std::uint64_t, load::HistoryLine>* answers_ = nullptr;
  mutable std::mutex mutex_;
  std::set<std::filesystem::path> inputs_in_output_;
  std::optional<Error> problem_;
};

/// Results as files, and as lines on stdout. Once stdout takes no more, no more requests are taken.
/// Threads: as RequestSink.
class FileResults final : public load::RequestSink {
 public:
  FileResults(Context& context, cluster::ModelWorkload& workload, FileRequests& requests,
              load::StreamTally& tally, std::filesystem::path folder, bool json);

  /// Writes each answer to a log, too, before it is shown. Names of files go on from those of the
  /// answers there. The log outlives it. Call it before the first done().
  void write_to(load::AnswerLog& log);
  void done(load::StreamResult result) override;

 private:
  Expected<std::vector<std::string>> keep(const load::StreamResult& result);
  /// Writes tensors to files of that stem. Returns the files.
  Expected<std::vector<std::string>> write(const std::string& stem,
                                           const std::vector<const Tensor*>& tensors);
  std::string json_line(const load::StreamResult& result,
                        const Expected<std::vector<std::string>>& files) const;
  std::string text_line(const load::StreamResult& result,
                        const Expected<std::vector<std::string>>& files);

  Context& context_;
  cluster::ModelWorkload& workload_;
  FileRequests& requests_;
  load::StreamTally& tally_;
  const std::filesystem::path folder_;
  const bool json_;
  load::AnswerLog* log_ = nullptr;
  OutputNames names_;
  std::string last_failure_;   ///< last failure of a request that was sent, as a line said it
  std::string last_not_sent_;  ///< last failure of a request that was not sent
};

}  // namespace pareto::client::commands
