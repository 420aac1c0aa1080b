// Any text as a file that a user writes, or as a setting or an address in it: refused, or read as
// what its program can work with.
//
//   input = 0: a frontier, 1: how pictures are prepared, 2: tasks, 3: an inventory, 4: settings of
//   a daemon, 5: the address of a daemon, 6: one setting, its number first; then the text
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/control_address.h"
#include "coordinator/data/preprocessing.h"
#include "daemon/config.h"
#include "partitioner/planning/frontiers/frontier_file.h"
#include "partitioner/planning/tasks/arrivals.h"
#include "partitioner/planning/tasks/task_file.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/text.h"

namespace pareto {
namespace {

using fuzz::check;

void read_frontier(const std::string& text) {
  const auto file = planning::parse_frontier(text, "fuzz.yaml");
  if (!file) return;
  for (const plan::OperatorRanges* const ranges : {&file->operators, &file->ranges}) {
    std::int64_t end = 0;
    for (const plan::OperatorRange& range : *ranges) {
      check(range.begin >= end && range.begin < range.end);
      end = range.end;
    }
  }
}

void read_preprocessing(const std::string& text) {
  const auto read = data::parse_preprocessing(text, "fuzz.yaml");
  if (!read) return;
  for (const auto* const numbers : {&read->mean, &read->std}) {
    check(std::ranges::all_of(*numbers, [](float number) { return std::isfinite(number); }));
    check(numbers->empty() ||
          numbers->size() == static_cast<std::size_t>(data::channels_of(*read)));
  }
  constexpr data::PictureSize kSmall{3, 2};
  const auto size = data::size_after(*read, kSmall);
  if (!size || size->height > 64 || size->width > 64 || read->shorter_side > 64 ||
      read->size.height > 64 || read->size.width > 64) {
    return;
  }
  const auto input =
      data::preprocess({kSmall, 3, std::vector<std::uint8_t>(18, std::uint8_t{200})}, *read);
  check(input && input->shape() == Shape({data::channels_of(*read), size->height, size->width}));
}

void read_tasks(const std::string& text) {
  // A trace is a file, and may be any of this machine.
  if (text.find("trace") != std::string::npos) return;
  const auto known = [](const std::string&) { return Expected<>(); };
  const auto set = tasks::parse_tasks(text, "fuzz.yaml", "/nowhere", known);
  if (!set) return;
  check(!set->tasks.empty() && set->tasks.size() <= tasks::kMostTasks);
  check(std::ranges::is_sorted(set->tasks, {}, &tasks::Task::arrival));
  for (const tasks::Task& task : set->tasks) {
    check(task.model < set->models.size() && task.arrival.count() >= 0);
    check(!task.deadline || *task.deadline > task.arrival);
  }
}

void read_inventory(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  const auto devices = cluster::read_inventory(file.path());
  if (!devices) return;
  std::set<std::string> names;
  for (const cluster::DeviceConfig& device : *devices) {
    check(!device.name.empty() && names.insert(device.name).second);
    check(cluster::check_control_address(device.address).has_value());
  }
}

void read_settings(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  daemon::CommandLine line;
  line.config_file = file.path();
  const auto config = daemon::load_config(line, {});
  if (!config) return;
  daemon::DaemonConfig again;
  for (const daemon::Setting& setting : daemon::settings()) {
    const std::string written = setting.get(*config);
    check(setting.set(again, written).has_value() && setting.get(again) == written);
  }
}

void read_address(const std::string& text) {
  static_cast<void>(cluster::check_control_address(text));
}

void read_setting(const std::string& text) {
  if (text.empty()) return;
  const auto settings = daemon::settings();
  const daemon::Setting& setting =
      settings[static_cast<unsigned char>(text.front()) % settings.size()];
  daemon::DaemonConfig config;
  if (!setting.set(config, text.substr(1))) return;
  const std::string written = setting.get(config);
  daemon::DaemonConfig again;
  check(setting.set(again, written).has_value() && setting.get(again) == written);
}

constexpr std::array kDocumentReaders{read_frontier,  read_preprocessing, read_tasks,
                                      read_inventory, read_settings,      read_address,
                                      read_setting};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kDocumentReaders[data[0] % kDocumentReaders.size()](fuzz::text_of(data + 1, size - 1));
  return 0;
}

}  // namespace pareto
