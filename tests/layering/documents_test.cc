// Documents are read where they lie: what they link to is there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

TEST(Documents, EveryFileThatTheyLinkToIsThere) {
  // Neither addresses nor places in the document itself.
  static const std::regex kLink(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  const fs::path root = PARETO_SOURCE_DIR;
  int links = 0;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() && (name == "build" || name == "node_modules" || name[0] == '.')) {
      entry.disable_recursion_pending();
    }
    if (entry->path().extension() != ".md") continue;
    std::ifstream file(entry->path());
    std::string line;
    while (std::getline(file, line)) {
      if (line.find("](") == std::string::npos) continue;
      for (std::sregex_iterator link(line.begin(), line.end(), kLink), end; link != end; ++link) {
        ++links;
        EXPECT_TRUE(fs::exists(entry->path().parent_path() / link->str(1)))
            << entry->path() << " links to " << link->str(1);
      }
    }
  }
  EXPECT_GT(links, 20);
}

}  // namespace
