#include "client/commands/deploy_requests.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "client/flags/inputs.h"
#include "core/base/json_text.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/tensor/npy.h"

namespace pareto::client::commands {
namespace {

namespace fs = std::filesystem;
using model::Model;

fs::path canonical_path(const fs::path& folder) {
  std::error_code absent;
  return fs::weakly_canonical(folder, absent);
}

}  // namespace

FileRequests::FileRequests(Context& context, const Model& model, cluster::ModelWorkload& workload,
                           std::int64_t plan_batch, const fs::path& output,
                           std::vector<std::string> files, LineReader lines,
                           const std::atomic<bool>& stop)
    : context_(context),
      model_(model),
      workload_(workload),
      plan_batch_(plan_batch),
      output_(output.empty() ? output : canonical_path(output)),
      files_(std::move(files)),
      piped_(files_.empty()),
      lines_(std::move(lines)),
      stop_(stop) {
  for (const std::string& line : files_) add_inputs(line);
}

void FileRequests::leave_out(const std::map<std::uint64_t, load::HistoryLine>& answers) {
  answers_ = &answers;
}

std::optional<std::string> FileRequests::next_name() {
  std::optional<std::string> line = next_line();
  while (line && line->find_first_not_of(" \t") == std::string::npos) line = next_line();
  return line;
}

Expected<bool> FileRequests::is_answered(const std::string& name) const {
  if (answers_ == nullptr) return false;
  const auto answer = answers_->find(requests_taken_);
  if (answer == answers_->end()) return false;
  // The log has names as JSON has them.
  const auto in_log = nlohmann::json::parse(dump(nlohmann::ordered_json(name)));
  if (in_log == answer->second.request) return true;
  return fail(ErrorCode::kInvalidArgument,
              "request {} is {} in the log and {} here: a log goes on with the requests that it "
              "began with",
              requests_taken_, printable(answer->second.request), printable(name));
}

std::optional<load::StreamRequest> FileRequests::next() {
  std::optional<std::string> line;
  while ((line = next_name())) {
    const auto answered = is_answered(*line);
    if (!answered) {
      const std::lock_guard lock(mutex_);
      problem_ = answered.error();
      return std::nullopt;
    }
    if (!*answered) break;
    add_inputs(*line);
    ++requests_taken_;
  }
  if (!line) return std::nullopt;
  load::StreamRequest request;
  request.number = requests_taken_++;
  request.name = *std::move(line);
  add_inputs(request.name);
  request.body = read(request.name, request.batch);
  return request;
}

void FileRequests::cancel() {
  cancelled_ = true;
  lines_.cancel();
}

std::optional<Error> FileRequests::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_ ? problem_ : lines_.problem();
}

bool FileRequests::came_to_end() const {
  return piped_ ? lines_.came_to_end() : taken_ == files_.size();
}

bool FileRequests::is_input(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  return inputs_in_output_.contains(file.filename());
}

std::vector<std::string> FileRequests::rest() const {
  return {files_.begin() + static_cast<std::ptrdiff_t>(taken_), files_.end()};
}

/// Remembers what results could replace, and nothing else: there may be no end of inputs.
void FileRequests::add_inputs(const std::string& line) {
  if (output_.empty()) return;
  for (const fs::path file : split_list(line, ';')) {
    if (canonical_path("." / file.parent_path()) != output_) continue;
    const std::lock_guard lock(mutex_);
    inputs_in_output_.insert(file.filename());
  }
}

std::optional<std::string> FileRequests::next_line() {
  if (piped_) return lines_.next();
  if (stop_ || cancelled_ || taken_ == files_.size()) return std::nullopt;
  return files_[taken_++];
}

/// "a.npy", or of a model with several inputs "a.npy;b.npy".
Expected<Value> FileRequests::read(const std::string& line, std::int64_t& batch) {
  const std::vector<std::string> files = split_list(line, ';');
  auto read = read_request(model_, files);
  if (!read && files.size() != model_.inputs().size()) {
    read.error().message += " (the files of one request have ; between them: \"a.npy;b.npy\")";
  }
  PARETO_ASSIGN(const ModelInputs inputs, std::move(read));
  batch = inputs.batch;
  if (batch != plan_batch_) tell_of_batch(line, batch);
  PARETO_ASSIGN(std::vector<Value> ordered, workload_.to_first_shard(inputs.values));
  return Value(Tuple{std::move(ordered)});
}

/// Once: it is computed, but what is known of the plan is of another batch.
void FileRequests::tell_of_batch(const std::string& request, std::int64_t batch) {
  if (std::exchange(told_of_batch_, true)) return;
  context_.err << fmt::format(
                      "{} has batch {}, and the plan {}: what it predicts, and what stages are "
                      "held to (pareto_stage_profiled_compute_seconds), does not hold for it\n",
                      request, batch, plan_batch_)
               << std::flush;
}

FileResults::FileResults(Context& context, cluster::ModelWorkload& workload, FileRequests& requests,
                         load::StreamTally& tally, fs::path folder, bool json)
    : context_(context),
      workload_(workload),
      requests_(requests),
      tally_(tally),
      folder_(std::move(folder)),
      json_(json) {}

void FileResults::write_to(load::AnswerLog& log) {
  log_ = &log;
  if (folder_.empty()) return;
  for (const auto& [number, answer] : log.before().answers) {
    if (answer.error) continue;
    const std::vector<std::string> inputs = split_list(answer.request, ';');
    if (!inputs.empty()) names_.take(fs::path(inputs.front()).stem().string());
  }
}

void FileResults::done(load::StreamResult result) {
  const TimePoint now = std::chrono::steady_clock::now();
  const auto files = keep(result);
  // What was not sent is left to the program that goes on.
  if (log_ != nullptr && result.sent && !log_->append(json_line(result, files))) {
    requests_.cancel();
    return;
  }
  tally_.add(result, !files, now);
  context_.out << (json_ ? json_line(result, files) : text_line(result, files)) << std::endl;
  // Nobody reads the results any more: `deploy … | head`.
  if (!context_.out) requests_.cancel();
}

std::string FileResults::json_line(const load::StreamResult& result,
                                   const Expected<std::vector<std::string>>& files) const {
  nlohmann::ordered_json line{{"number", result.number}, {"request", result.name}};
  if (files) {
    line["latency_ms"] = to_milliseconds(result.latency);
    line["output"] = *files;
    if (result.sent_again > 0) line["sent_again"] = result.sent_again;
  } else {
    line["error"] = files.error().message;
    if (!result.sent) line["sent"] = false;
  }
  return dump(line);
}

std::string FileResults::text_line(const load::StreamResult& result,
                                   const Expected<std::vector<std::string>>& files) {
  if (files) {
    return fmt::format("{}  {:.2f} ms{}{}{}", printable(result.name),
                       to_milliseconds(result.latency), result.sent_again > 0 ? ", sent again" : "",
                       files->empty() ? "" : "  ", printable_lines(join(*files, " ")));
  }
  // A lost device fails all requests in flight: one sentence is enough.
  std::string& said = result.sent ? last_failure_ : last_not_sent_;
  const bool again = std::exchange(said, files.error().message) == files.error().message;
  return fmt::format("{}  {}: {}", printable(result.name), result.sent ? "failed" : "not sent",
                     again ? "as above" : printable_lines(said));
}

/// Writes its tensors. Returns their files.
Expected<std::vector<std::string>> FileResults::keep(const load::StreamResult& result) {
  if (!result.outputs) return tl::unexpected(result.outputs.error());
  const auto* tuple = result.outputs->get_if<Tuple>();
  if (!tuple) return fail(ErrorCode::kCorrupt, "the pipeline's result is no tuple");
  PARETO_ASSIGN(const std::vector<Value> outputs, workload_.from_last_shard(tuple->items));
  if (folder_.empty()) return std::vector<std::string>{};
  std::vector<const Tensor*> tensors;
  for (const Value& output : outputs) {
    const auto inside = tensors_of(output);
    tensors.insert(tensors.end(), inside.begin(), inside.end());
  }
  const std::vector<std::string> inputs = split_list(result.name, ';');
  const std::string stem = fs::path(inputs.front()).stem().string();
  auto files = write(names_.take(stem), tensors);
  // The name is another's: a program that goes on gives it as well.
  if (!files) names_.give_back(stem);
  return files;
}

Expected<std::vector<std::string>> FileResults::write(const std::string& stem,
                                                      const std::vector<const Tensor*>& tensors) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const fs::path file =
        folder_ / (tensors.size() == 1 ? stem + ".npy" : fmt::format("{}.{}.npy", stem, i));
    if (requests_.is_input(file)) {
      return fail(ErrorCode::kInvalidArgument,
                  "its result would replace {}: another folder is needed (--output)",
                  file.string());
    }
    PARETO_TRY(write_npy(file, *tensors[i]));
    files.push_back(file.string());
  }
  return files;
}

}  // namespace pareto::client::commands
