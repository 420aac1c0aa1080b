#include "partitioner/planning/tasks/task_file.h"

#include <algorithm>
#include <random>
#include <utility>

#include "core/base/config_reader.h"
#include "core/base/text.h"
#include "partitioner/planning/tasks/arrivals.h"
#include "partitioner/planning/tasks/task_mix.h"

namespace pareto::tasks {
namespace {

constexpr int kMostBatch = 4096;
constexpr int kMostPriority = 1000;

class TaskFileReader {
 public:
  TaskFileReader(std::filesystem::path folder, const ModelCheck& check_model)
      : folder_(std::move(folder)), check_model_(check_model) {}

  Expected<TaskSet> read(ConfigReader& file) {
    ConfigSection root = file.root();
    int seed = 1;
    bool shuffled = false;
    read_number(root, "seed", 0, 1'000'000, seed);
    root.optional("shuffle", shuffled);
    random_.seed(static_cast<std::uint64_t>(seed));
    const Arrivals arrivals = read_arrivals(root);
    std::vector<ConfigSection> rows = root.sections("tasks");
    for (ConfigSection& row : rows) read_row(row);
    if (set_.tasks.empty() && total_ == 0) root.problem("tasks", "has no tasks: list at least one");
    if (total_ > kMostTasks) {
      root.problem("tasks", fmt::format("has {} tasks; there may be {}", total_, kMostTasks));
    }
    PARETO_TRY(file.finish());
    if (shuffled) shuffle(set_.tasks, random_);
    settle_times(arrivals);
    PARETO_TRY(with_context(check_arrivals(set_), "{}", root.where()));
    return std::move(set_);
  }

 private:
  static void read_number(ConfigSection& section, const char* key, int least, int most,
                          int& target) {
    section.optional(key, target);
    if (target >= least && target <= most) return;
    target = least;
    section.problem(key, fmt::format("should be {} to {}", least, most));
  }

  Arrivals read_arrivals(ConfigSection& section) {
    std::string text = "together";
    section.optional("arrivals", text);
    auto arrivals = parse_arrivals(text, folder_);
    if (arrivals) return *std::move(arrivals);
    section.problem("arrivals", arrivals.error().message);
    return {};
  }

  std::string file_in_folder(const std::string& name) const {
    return name.empty() ? name : (folder_ / name).lexically_normal().string();
  }

  void read_row(ConfigSection& row) {
    TaskModel model;
    row.required("model", model.model);
    if (row.has("model") && model.model.empty()) {
      row.problem("model", "is empty: name a built-in model, or a path with a /");
    } else if (!model.model.empty()) {
      // A path is the file's own, a name is not.
      if (model.model.find('/') != std::string::npos) model.model = file_in_folder(model.model);
      if (const auto known = check_model_(model.model); !known) {
        row.problem("model", known.error().message);
      }
    }
    int batch = 1;
    read_number(row, "batch", 1, kMostBatch, batch);
    model.batch = batch;
    row.optional("input_shape", model.input_shape);
    row.optional("inputs", model.inputs);
    for (std::string& file : model.inputs) file = file_in_folder(file);
    row.optional("weights", model.weights);
    model.weights = file_in_folder(model.weights);

    int count = 1;
    read_number(row, "count", 1, static_cast<int>(kMostTasks), count);
    Task task{.model = set_.index_of(model)};
    read_number(row, "priority", -kMostPriority, kMostPriority, task.priority);
    row.optional_duration("arrival", task.arrival);
    if (task.arrival > kLatestArrival) {
      row.problem("arrival", fmt::format("should be {} hours at most", kLatestArrival.count()));
      task.arrival = {};
    }
    Nanoseconds deadline{};
    row.optional_duration("deadline", deadline);
    if (row.has("deadline")) {
      if (deadline.count() <= 0) {
        row.problem("deadline",
                    "is in the past when the task comes: it counts from the task's arrival, as in "
                    "200ms");
      }
      task.deadline = std::min<Nanoseconds>(deadline, kFarDeadline);
    }
    total_ += static_cast<std::size_t>(count);
    if (total_ > kMostTasks) return;
    const bool own = row.has("arrivals");
    if (own && row.has("arrival")) {
      row.problem("arrival", "is one moment, and arrivals are several: leave one of them out");
    }
    const auto times =
        own ? arrival_times(read_arrivals(row), static_cast<std::size_t>(count), random_)
            : std::vector<Nanoseconds>(static_cast<std::size_t>(count), task.arrival);
    for (const Nanoseconds at : times) {
      task.arrival = at;
      set_.tasks.push_back(task);
    }
  }

  /// Adds the file's arrivals to the tasks' own, and makes deadlines moments.
  void settle_times(const Arrivals& arrivals) {
    const auto times = arrival_times(arrivals, set_.tasks.size(), random_);
    for (std::size_t i = 0; i < set_.tasks.size(); ++i) {
      Task& task = set_.tasks[i];
      task.arrival += times[i];
      if (task.deadline) *task.deadline += task.arrival;
    }
    std::ranges::stable_sort(set_.tasks, {}, &Task::arrival);
  }

  const std::filesystem::path folder_;
  const ModelCheck& check_model_;
  std::mt19937_64 random_;
  std::size_t total_ = 0;
  TaskSet set_;
};

}  // namespace

Expected<TaskSet> parse_tasks(const std::string& text, const std::string& name,
                              const std::filesystem::path& folder, const ModelCheck& check_model) {
  PARETO_ASSIGN(auto file, ConfigReader::from_text(text, name));
  return TaskFileReader(folder, check_model).read(file);
}

Expected<TaskSet> read_tasks(const std::filesystem::path& path, const ModelCheck& check_model) {
  PARETO_ASSIGN(auto file, ConfigReader::from_file(path));
  return TaskFileReader(path.parent_path(), check_model).read(file);
}

}  // namespace pareto::tasks
