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

/// Folder -> folders whose headers it may include, its own always among them. A folder that is not
/// listed may not exist.
const std::map<std::string, std::set<std::string>>& allowed_arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows{
      // What at least two programs share.
      {"core/base", {}},
      {"core/tensor", {"core/base"}},
      {"core/plan", {"core/base", "core/tensor"}},
      {"core/wire", {"core/base", "core/tensor", "core/wire/codecs"}},
      {"core/wire/codecs", {"core/wire"}},
      {"core/tls", {"core/base"}},
      {"core/transport",
       {"core/base", "core/tensor", "core/tls", "core/wire", "core/transport/tcp",
        "core/transport/grpc", "core/transport/shm", "core/transport/inproc"}},
      {"core/transport/tcp", {"core/base", "core/tls", "core/wire", "core/transport"}},
      {"core/transport/grpc", {"core/base", "core/tls", "core/wire", "core/transport"}},
      {"core/transport/shm", {"core/base", "core/wire", "core/transport"}},
      {"core/transport/inproc", {"core/base", "core/transport"}},
      {"core/control", {"core/base", "core/plan", "core/wire", "core/transport", "proto"}},
      {"core/metrics", {"core/base", "core/tls", "core/transport"}},
      // Runs a shard: the only part of a daemon that sees LibTorch.
      {"runtime/archive", {"core/base"}},
      {"runtime/torch", {"core/base", "core/tensor", "core/plan"}},
      {"runtime/kernels", {"core/base", "runtime/torch"}},
      {"runtime/engines", {"core/base", "runtime/torch", "runtime/kernels"}},
      // What runs when on which worker: no LibTorch.
      {"runtime/schedules", {"core/base", "core/plan"}},
      {"runtime/execution",
       {"core/base", "core/plan", "runtime/torch", "runtime/engines", "runtime/schedules"}},
      {"runtime",
       {"core/base", "core/tensor", "core/plan", "runtime/archive", "runtime/torch",
        "runtime/kernels", "runtime/engines", "runtime/schedules", "runtime/execution"}},
      {"runtime/training", {"core/base", "core/tensor", "core/plan", "runtime/torch", "runtime"}},
      // What happens to a model before it is deployed.
      {"partitioner/model/graph",
       {"core/base", "core/tensor", "core/plan", "runtime/torch", "runtime/schedules"}},
      {"partitioner/model/readers",
       {"core/base", "runtime/archive", "runtime/torch", "partitioner/model/graph"}},
      {"partitioner/model/zoo",
       {"core/base", "core/tensor", "runtime/torch", "partitioner/model/graph",
        "partitioner/model/readers"}},
      {"partitioner/model/emit",
       {"core/base", "core/tensor", "core/plan", "runtime/torch", "runtime",
        "partitioner/model/graph"}},
      // Plans: no LibTorch, no device.
      {"partitioner/planning/objective", {"core/base"}},
      {"partitioner/planning/cost", {"core/base", "core/plan", "partitioner/planning/objective"}},
      {"partitioner/planning/search",
       {"core/base", "core/plan", "partitioner/model/graph", "partitioner/planning/cost"}},
      {"partitioner/planning/frontiers",
       {"core/base", "core/plan", "partitioner/model/graph", "partitioner/planning/search"}},
      {"partitioner/planning/simulation", {"core/base", "core/plan", "partitioner/planning/cost"}},
      {"partitioner/planning/inputs",
       {"core/base", "core/plan", "core/wire", "core/transport", "partitioner/model/graph",
        "partitioner/planning/cost", "partitioner/planning/search", "netem"}},
      {"partitioner/planning/tasks", {"core/base", "partitioner/planning/simulation"}},
      {"partitioner/planning/outlook",
       {"core/base", "core/plan", "partitioner/planning/cost", "partitioner/planning/search",
        "partitioner/planning/simulation", "partitioner/planning/inputs"}},
      // What works knows nothing of what watches it: only daemon/metrics reads the others.
      {"netem", {"core/base", "core/plan"}},
      {"daemon/imitation", {"core/base", "runtime", "runtime/training"}},
      // Shares a device between whatever computes there: it knows no stage.
      {"daemon/device", {"core/base", "daemon/device/policies"}},
      {"daemon/device/policies", {"daemon/device"}},
      {"daemon/stage",
       {"core/base", "core/tensor", "core/plan", "core/tls", "core/wire", "core/transport",
        "core/control", "runtime", "runtime/training", "daemon/device"}},
      {"daemon/control",
       {"core/base", "core/plan", "core/tls", "core/wire", "core/transport", "core/transport/grpc",
        "core/control", "runtime", "runtime/training", "netem", "daemon/stage", "proto"}},
      {"daemon/metrics",
       {"core/base", "core/plan", "core/tls", "core/control", "core/metrics", "daemon/stage"}},
      {"daemon",
       {"core/base", "core/plan", "core/tls", "core/transport", "core/transport/grpc",
        "core/metrics", "runtime", "runtime/training", "daemon/imitation", "daemon/stage",
        "daemon/control", "daemon/metrics"}},
      // What measures.
      {"coordinator/data", {"core/base", "core/tensor"}},
      {"coordinator/discovery", {"core/base", "core/transport"}},
      {"coordinator/enrolment", {"core/base", "core/tls", "core/transport"}},
      {"coordinator/results", {"core/base", "core/tensor", "core/plan"}},
      {"coordinator/cluster",
       {"core/base", "core/tensor", "core/plan", "core/tls", "core/wire", "core/transport",
        "core/transport/grpc", "core/control", "runtime", "runtime/schedules",
        "partitioner/model/graph", "partitioner/model/emit", "partitioner/planning/objective",
        "netem", "coordinator/discovery", "proto"}},
      {"coordinator/statistics",
       {"core/base", "partitioner/planning/objective", "partitioner/planning/cost",
        "coordinator/results"}},
      {"coordinator/load",
       {"core/base", "core/tensor", "core/plan", "core/wire", "core/transport", "core/control",
        "coordinator/results", "coordinator/cluster"}},
      {"coordinator/evaluation",
       {"core/base", "core/tensor", "core/plan", "partitioner/model/graph", "coordinator/data",
        "coordinator/cluster", "coordinator/statistics", "coordinator/load"}},
      {"coordinator/profile",
       {"core/base", "core/tensor", "core/plan", "core/wire", "core/transport", "core/control",
        "runtime", "partitioner/model/graph", "partitioner/planning/cost",
        "partitioner/planning/inputs", "coordinator/results", "coordinator/cluster",
        "coordinator/statistics", "coordinator/load"}},
      {"coordinator/failover",
       {"core/base", "core/plan", "core/transport", "partitioner/model/graph",
        "partitioner/planning/cost", "partitioner/planning/inputs", "partitioner/planning/outlook",
        "partitioner/planning/search", "coordinator/results", "coordinator/cluster",
        "coordinator/load", "coordinator/profile"}},
      {"coordinator/modes",
       {"core/base", "core/plan", "runtime", "runtime/engines", "runtime/training",
        "partitioner/model/graph", "partitioner/model/emit", "coordinator/train"}},
      {"coordinator/sweep",
       {"core/base", "core/tensor", "core/plan", "core/wire", "core/control", "runtime",
        "runtime/schedules", "partitioner/model/graph", "partitioner/planning/cost",
        "partitioner/planning/frontiers", "partitioner/planning/inputs", "coordinator/data",
        "coordinator/evaluation", "coordinator/results", "coordinator/cluster",
        "coordinator/statistics", "coordinator/load", "coordinator/profile", "coordinator/train"}},
      {"coordinator/replay",
       {"core/base", "partitioner/planning/simulation", "coordinator/results",
        "coordinator/statistics", "coordinator/sweep"}},
      {"coordinator/tasks",
       {"core/base", "core/tensor", "core/plan", "runtime", "partitioner/model/graph",
        "partitioner/model/emit", "partitioner/planning/tasks", "coordinator/results",
        "coordinator/cluster", "coordinator/load"}},
      {"coordinator/train",
       {"core/base", "core/tensor", "core/plan", "core/wire", "core/transport", "core/control",
        "runtime", "runtime/training", "partitioner/model/graph", "partitioner/model/emit",
        "coordinator/data", "coordinator/cluster"}},
      // What users see.
      {"client/report",
       {"core/base", "core/plan", "partitioner/planning/cost", "partitioner/planning/simulation",
        "partitioner/planning/inputs", "partitioner/planning/outlook", "coordinator/results",
        "coordinator/cluster", "coordinator/statistics", "coordinator/evaluation",
        "coordinator/load", "coordinator/profile", "coordinator/replay"}},
      {"client/report/modes", {"core/base", "client/report", "coordinator/modes"}},
      {"client/report/schedule", {"core/base", "runtime/schedules", "client/report"}},
      {"client/report/graph",
       {"core/base", "core/plan", "partitioner/model/graph", "client/report",
        "client/report/schedule"}},
      {"client/report/tasks",
       {"core/base", "client/report", "client/report/schedule", "coordinator/results",
        "coordinator/tasks"}},
      {"client/report/train",
       {"core/base", "client/report", "client/report/schedule", "coordinator/train"}},
      {"client/watch",
       {"core/base", "core/tls", "core/transport", "core/control", "coordinator/results",
        "coordinator/cluster", "coordinator/load", "client/report"}},
      {"client/flags",
       {"core/base",
        "core/tensor",
        "core/plan",
        "core/wire",
        "core/tls",
        "core/transport",
        "core/control",
        "core/metrics",
        "runtime/schedules",
        "runtime",
        "partitioner/model/graph",
        "partitioner/model/readers",
        "partitioner/model/zoo",
        "partitioner/planning/objective",
        "partitioner/planning/frontiers",
        "partitioner/planning/tasks",
        "coordinator/data",
        "coordinator/results",
        "coordinator/cluster",
        "coordinator/statistics",
        "coordinator/load",
        "coordinator/evaluation",
        "coordinator/sweep",
        "coordinator/tasks",
        "coordinator/train",
        "client/report",
        "client"}},
      {"client/commands",
       {"core/base",
        "core/tensor",
        "core/plan",
        "core/wire",
        "core/tls",
        "core/transport",
        "core/control",
        "core/metrics",
        "runtime/schedules",
        "runtime",
        "partitioner/model/graph",
        "partitioner/model/readers",
        "partitioner/model/zoo",
        "partitioner/model/emit",
        "partitioner/planning/objective",
        "partitioner/planning/search",
        "partitioner/planning/frontiers",
        "partitioner/planning/simulation",
        "partitioner/planning/inputs",
        "partitioner/planning/outlook",
        "netem",
        "coordinator/discovery",
        "coordinator/enrolment",
        "coordinator/results",
        "coordinator/cluster",
        "coordinator/statistics",
        "coordinator/load",
        "coordinator/evaluation",
        "coordinator/profile",
        "coordinator/failover",
        "coordinator/modes",
        "coordinator/sweep",
        "coordinator/replay",
        "coordinator/train",
        "client/report",
        "client/report/modes",
        "client/report/schedule",
        "client/report/graph",
        "client/report/tasks",
        "client/report/train",
        "client/watch",
        "client/flags",
        "client"}},
      {"client/front",
       {"core/base", "coordinator/results", "coordinator/cluster", "client/commands", "client"}},
      {"client", {"core/base", "core/transport/grpc", "coordinator/results", "client/commands"}},
  };
  return kArrows;
}

/// The only folders whose sources may see LibTorch.
const std::set<std::string> kMaySeeTorch{"runtime",
                                         "runtime/archive",
                                         "runtime/torch",
                                         "runtime/kernels",
                                         "runtime/engines",
                                         "runtime/execution",
                                         "runtime/training",
                                         "partitioner/model/graph",
                                         "partitioner/model/readers",
                                         "partitioner/model/zoo",
                                         "partitioner/model/emit"};

/// Third-party headers that may stand in a header of ours: value types and formatting, nothing that
/// opens, runs or parses.
const std::vector<std::string> kAllowedInHeaders{"fmt/", "tl/", "nlohmann/"};

struct Include {
  std::string name;
  bool quoted = false;
};

struct Source {
  fs::path path{};       ///< path from the root of the tree
  std::string folder{};  ///< "core/wire"
  std::size_t lines = 0;
  std::vector<Include> includes{};
};

std::string folder_of(const fs::path& path) { return path.parent_path().string(); }

std::vector<Source> read_tree() {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Source> sources;
  const fs::path root = PARETO_SOURCE_DIR;
  for (const char* top :
       {"core", "runtime", "partitioner", "netem", "daemon", "coordinator", "client"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".cc" && extension != ".h") continue;
      Source source{.path = fs::relative(entry.path(), root)};
      source.folder = folder_of(source.path);
      std::ifstream file(entry.path());
      std::string line;
      std::smatch match;
      while (std::getline(file, line)) {
        ++source.lines;
        // A regular expression for every line of the tree would take a minute.
        if (line.find("include") == std::string::npos) continue;
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

TEST(Layering, EveryListedArrowIsUsed) {
  std::map<std::string, std::set<std::string>> unused = allowed_arrows();
  for (const Source& source : read_tree()) {
    for (const Include& include : source.includes) {
      unused[source.folder].erase(folder_of(include.name));
    }
  }
  for (const auto& [folder, targets] : unused) {
    for (const std::string& target : targets) {
      ADD_FAILURE() << folder << " may include " << target << ", and does not: take the arrow away";
    }
  }
}

TEST(Layering, SourcesHave400LinesAtMost) {
  for (const Source& source : read_tree()) {
    EXPECT_LE(source.lines, 400U) << source.path << ": it is several things by now";
  }
}

TEST(Layering, NoClassIsInTwoSources) {
  // Members are defined at the beginning of a line.
  static const std::regex kMember(R"(^[A-Za-z:][^;=(]*?\b([A-Z]\w*)::~?\w+\()");
  static const std::regex kNamespace(R"(^namespace (pareto[\w:]*) \{)");
  std::map<std::string, std::set<fs::path>> sources_of;
  for (const Source& source : read_tree()) {
    if (source.path.extension() != ".cc") continue;
    std::ifstream file(fs::path(PARETO_SOURCE_DIR) / source.path);
    std::string line;
    std::string space;
    std::smatch match;
    while (std::getline(file, line)) {
      if (line.find("namespace") == 0 && std::regex_search(line, match, kNamespace)) {
        space = match[1];
      } else if (line.find("::") != std::string::npos && std::regex_search(line, match, kMember)) {
        sources_of[space + "::" + match[1].str()].insert(source.path);
      }
    }
  }
  ASSERT_GT(sources_of.size(), 100U);
  for (const auto& [name, sources] : sources_of) {
    EXPECT_EQ(sources.size(), 1U) << name << " is in " << sources.begin()->string() << " and in "
                                  << sources.rbegin()->string() << ": give each a class";
  }
}

TEST(Layering, FewFoldersSeeLibTorch) {
  for (const Source& source : read_tree()) {
    for (const Include& include : source.includes) {
      if (!is_torch(include.name)) continue;
      EXPECT_TRUE(kMaySeeTorch.contains(source.folder))
          << source.path << " includes " << include.name;
    }
  }
}

/// Headers that only files next to them include: the inside of a plug.
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
