#include "client/front/proposals.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "client/run_main.h"
#include "coordinator/cluster/testbed_registry.h"
#include "coordinator/results/store.h"
#include "core/base/text.h"

namespace pareto::client {
namespace {

using Words = std::vector<std::string>;

/// Returns the stored runs, newest first; none if they cannot be read.
std::vector<results::RunRecord> runs_in(const std::filesystem::path& store) {
  const auto opened = results::ResultStore::open_existing(store);
  if (!opened) return {};
  return (*opened)->list_runs().value_or(std::vector<results::RunRecord>{});
}

/// Returns the value of a flag, or "".
std::string value_of(const Words& arguments, const std::string& flag) {
  const auto at = std::ranges::find(arguments, flag);
  return at == arguments.end() || at + 1 == arguments.end() ? std::string() : *(at + 1);
}

std::filesystem::path store_among(const Words& arguments) {
  const std::string named = value_of(arguments, "--store");
  return named.empty() ? store_of_environment() : std::filesystem::path(named);
}

/// Adds a word that no shell could take for more than a word, whatever a results file holds.
void add_once(const std::string& word, Words& words) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("._:/@+-").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (word.empty() || !std::ranges::all_of(word, is_plain)) return;
  if (std::ranges::find(words, word) == words.end()) words.push_back(word);
}

Words run_names(const std::vector<results::RunRecord>& runs) {
  Words words;
  for (const results::RunRecord& run : runs) {
    add_once(run.tag, words);
    add_once(run.id, words);
  }
  return words;
}

Words device_words(const std::vector<results::RunRecord>& runs,
                   std::string results::DeviceRecord::*field) {
  Words words;
  for (const results::RunRecord& run : runs) {
    for (const results::DeviceRecord& device : run.devices) add_once(device.*field, words);
  }
  return words;
}

Words addresses(const std::vector<results::RunRecord>& runs) {
  Words words;
  const char* const given = std::getenv("PARETO_DEVICES");
  if (given != nullptr) {
    for (const std::string& one : split_list(given)) add_once(one, words);
  }
  for (const std::string& one : device_words(runs, &results::DeviceRecord::address)) {
    // Daemons that a sweep started on this machine are gone.
    if (!one.starts_with("127.") && !one.starts_with("unix:")) add_once(one, words);
  }
  return words;
}

/// Returns the cuts that were stored of a model, in its order. Enumerating them needs LibTorch.
Words cuts(const std::vector<results::RunRecord>& runs, const std::string& model) {
  const std::string name = std::filesystem::path(model).stem().string();
  std::set<std::pair<std::int64_t, std::string>> found;
  for (const results::RunRecord& run : runs) {
    if (!model.empty() && run.model != model && run.model != name) continue;
    for (const results::TrialRecord& trial : run.trials) {
      if (!trial.split) continue;
      for (const results::CutRecord& cut : trial.split->cuts) {
        found.emplace(cut.position, cut.name);
      }
      // Runs of earlier versions do not have each by itself.
      if (!trial.split->cuts.empty()) continue;
      for (const std::string& cut : split_list(trial.split->name, '+')) {
        found.emplace(trial.split->position, cut);
      }
    }
  }
  Words words;
  for (const auto& [position, cut] : found) add_once(cut, words);
  return words;
}

Words testbeds() {
  Words words;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(cluster::TestbedRegistry::kFolder, none)) {
    add_once(entry.path().filename().string(), words);
  }
  return words;
}

Words words_of(const std::string& kind, const Words& arguments) {
  if (kind == "testbeds") return testbeds();
  const std::vector<results::RunRecord> runs = runs_in(store_among(arguments));
  if (kind == "runs") return run_names(runs);
  if (kind == "cuts") return cuts(runs, value_of(arguments, "--model"));
  if (kind == "devices") return device_words(runs, &results::DeviceRecord::name);
  if (kind == "addresses") return addresses(runs);
  return {};
}

}  // namespace

std::optional<std::string> proposals(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[0] != "--complete") return std::nullopt;
  std::string text;
  for (const std::string& word : words_of(arguments[1], arguments)) text += word + "\n";
  return text;
}

}  // namespace pareto::client
