// The rule of arrows: reads every #include of the tree and refuses those that are not listed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Folder -> folders whose headers it may include, its own always among them. A folder not listed may not exist.
const std::map<std::string, std::set<std::string>>& allowed_arrows() {
  static const std::set<std::string> kBelowClient{"core/base",
                                                  "core/tensor",
                                                  "core/plan",
                                                  "core/wire",
                                                  "core/transport",
                                                  "core/control",
                                                  "core/metrics",
                                                  "core/runtime",
                                                  "partitioner/graph",
                                                  "partitioner/models",
                                                  "partitioner/emit",
                                                  "partitioner/objective",
                                                  "partitioner/cost",
                                                  "partitioner/search",
                                                  "partitioner/simulation",
                                                  "client/cluster",
                                                  "client/discovery",
                                                  "client/experiment",
                                                  "client/planning",
                                                  "client/results",
                                                  "client/report",
                                                  "client/watch",
                                                  "client/commands",
                                                  "client/front",
                                                  "client",
                                                  "netem",
                                                  "proto"};
  // What works knows nothing of what watches it: only daemon/metrics reads the others, for who asks.
  static const std::set<std::string> kBelowDaemon{"core/base",    "core/tensor",    "core/plan",
                                                  "core/wire",    "core/transport", "core/control",
                                                  "core/runtime", "daemon/control", "daemon/stage",
                                                  "daemon",       "netem",          "proto"};
  static const std::set<std::string> kBelowDaemonMetrics = [] {
    std::set<std::string> folders = kBelowDaemon;
    for (const char* more : {"core/metrics", "daemon/metrics"}) folders.insert(more);
    return folders;
  }();
  static const std::map<std::string, std::set<std::string>> kArrows{
      {"core/base", {}},
      {"core/tensor", {"core/base"}},
      {"core/plan", {"core/base", "core/tensor"}},
      {"core/wire", {"core/base", "core/tensor"}},
      {"core/transport", {"core/base", "core/tensor", "core/wire", "proto"}},
      {"core/control",
       {"core/base", "core/tensor", "core/plan", "core/wire", "core/transport", "proto"}},
      // Addresses and sockets are opened as transports open theirs, and fail with the same words.
      {"core/metrics", {"core/base", "core/transport"}},
      {"core/runtime", {"core/base", "core/tensor", "core/plan"}},
      {"partitioner/graph", {"core/base", "core/tensor", "core/plan", "core/runtime"}},
      {"partitioner/models",
       {"core/base", "core/tensor", "core/plan", "core/runtime", "partitioner/graph"}},
      {"partitioner/emit",
       {"core/base", "core/tensor", "core/plan", "core/runtime", "partitioner/graph"}},
      {"partitioner/objective", {"core/base"}},
      {"partitioner/cost",
       {"core/base", "core/plan", "partitioner/graph", "partitioner/objective"}},
      {"partitioner/simulation", {"core/base", "core/plan", "partitioner/cost"}},
      {"partitioner/search",
       {"core/base", "core/plan", "partitioner/graph", "partitioner/objective",
        "partitioner/cost"}},
      {"netem", {"core/base", "core/plan"}},
      {"daemon", kBelowDaemonMetrics},
      {"daemon/metrics", kBelowDaemonMetrics},
      {"daemon/control", kBelowDaemon},
      {"daemon/stage", kBelowDaemon},
      {"client", kBelowClient},
      {"client/cluster", kBelowClient},
      {"client/discovery", {"core/base", "core/plan", "core/transport"}},
      {"client/experiment", kBelowClient},
      {"client/planning", kBelowClient},
      {"client/results", kBelowClient},
      {"client/report", kBelowClient},
      {"client/watch", kBelowClient},
      {"client/commands", kBelowClient},
      {"client/front", kBelowClient},
  };
  return kArrows;
}

/// The only folders whose sources may see LibTorch.
const std::set<std::string> kMaySeeTorch{"core/runtime", "partitioner/graph", "partitioner/models",
                                         "partitioner/emit"};

/// Third-party headers that may stand in a header of ours: value types and formatting, nothing that opens, runs or parses.
const std::vector<std::string> kAllowedInHeaders{"fmt/", "tl/", "nlohmann/"};

struct Include {
  std::string name;
  bool quoted = false;
};

struct Source {
  fs::path path;       ///< from the root of the tree
  std::string folder;  ///< "core/wire": its first two components, or one
  std::vector<Include> includes;
};

std::string folder_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const auto& part : path.parent_path()) parts.push_back(part.string());
  if (parts.empty()) return "";
  return parts.size() == 1 ? parts[0] : parts[0] + "/" + parts[1];
}

std::vector<Source> read_tree() {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Source> sources;
  const fs::path root = PARETO_SOURCE_DIR;
  for (const char* top : {"core", "partitioner", "daemon", "client", "netem"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".cc" && extension != ".h") continue;
      Source source{fs::relative(entry.path(), root), "", {}};
      source.folder = folder_of(source.path);
      std::ifstream file(entry.path());
      std::string line;
      std::smatch match;
      while (std::getline(file, line)) {
        if (std::regex_search(line, match, kInclude)) {
          source.includes.push_back({match[2], match[1] == "\""});
        }
      }
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.rfind(prefix, 0) == 0; });
}

bool is_torch(const std::string& name) {
  return starts_with_any(name, {"torch/", "ATen/", "c10/", "caffe2/"});
}

TEST(Layering, EveryFolderIsListedAndReadsOnlyWhatItMay) {
  const auto sources = read_tree();
  ASSERT_GT(sources.size(), 20U);
  for (const Source& source : sources) {
    const auto rule = allowed_arrows().find(source.folder);
    ASSERT_NE(rule, allowed_arrows().end()) << source.path << ": folder is not listed";
    for (const Include& include : source.includes) {
      if (!include.quoted) continue;
      const std::string target = folder_of(include.name);
      EXPECT_TRUE(target == source.folder || rule->second.contains(target))
          << source.path << " may not include " << include.name;
    }
  }
}

TEST(Layering, OnlyFourFoldersSeeLibTorch) {
  for (const Source& source : read_tree()) {
    for (const Include& include : source.includes) {
      if (!is_torch(include.name)) continue;
      EXPECT_TRUE(kMaySeeTorch.contains(source.folder))
          << source.path << " includes " << include.name;
    }
  }
}

/// Headers that only files beside them include: the inside of a plug.
std::set<fs::path> inner_headers(const std::vector<Source>& sources) {
  std::set<fs::path> inner;
  for (const Source& source : sources) inner.insert(source.path);
  for (const Source& source : sources) {
    for (const Include& include : source.includes) {
      if (fs::path(include.name).parent_path() != source.path.parent_path())
        inner.erase(include.name);
    }
  }
  return inner;
}

TEST(Layering, ThirdPartyHeadersStayInSources) {
  const auto sources = read_tree();
  const auto inner = inner_headers(sources);
  for (const Source& source : sources) {
    if (source.path.extension() != ".h" || inner.contains(source.path)) continue;
    for (const Include& include : source.includes) {
      const bool of_a_library = !include.quoted && include.name.find('/') != std::string::npos &&
                                !starts_with_any(include.name, {"sys/", "netinet/", "linux/"});
      if (!of_a_library || starts_with_any(include.name, kAllowedInHeaders)) continue;
      EXPECT_TRUE(is_torch(include.name) && kMaySeeTorch.contains(source.folder))
          << source.path << " shows " << include.name << " to all who include it";
    }
  }
}

}  // namespace
