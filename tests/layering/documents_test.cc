// Documents are read where they lie, and where a package puts them: what they link to is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Returns the files that a document links to, by their paths from the root of the tree.
std::vector<fs::path> links_of(const fs::path& document) {
  // Neither addresses nor places in the document itself.
  static const std::regex kLink(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
  std::vector<fs::path> links;
  std::ifstream file(document);
  std::string line;
  while (std::getline(file, line)) {
    if (line.find("](") == std::string::npos) continue;
    for (std::sregex_iterator link(line.begin(), line.end(), kLink), end; link != end; ++link) {
      const fs::path target = document.parent_path() / link->str(1);
      links.push_back(target.lexically_normal().lexically_relative(PARETO_SOURCE_DIR));
    }
  }
  return links;
}

/// Returns the documents in that folder of the tree, and in those below.
std::vector<fs::path> documents_in(const fs::path& folder) {
  std::vector<fs::path> documents;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() && (name == "build" || name == "node_modules" || name[0] == '.')) {
      entry.disable_recursion_pending();
    }
    if (entry->path().extension() == ".md") documents.push_back(entry->path());
  }
  return documents;
}

TEST(Documents, EveryFileThatTheyLinkToIsThere) {
  const fs::path root = PARETO_SOURCE_DIR;
  std::size_t links = 0;
  for (const fs::path& document : documents_in(root)) {
    for (const fs::path& link : links_of(document)) {
      ++links;
      EXPECT_TRUE(fs::exists(root / link)) << document << " links to " << link;
    }
  }
  EXPECT_GT(links, 20U);
}

TEST(Documents, ThePackageHasWhatItsDocumentsLinkTo) {
  const fs::path root = PARETO_SOURCE_DIR;
  std::ifstream file(root / "deploy/packages.cmake");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // "client" and "daemon" are packages there, not folders.
  static const std::regex kWord(R"(\bdocs\b|[\w-]+[./][\w./-]*)");
  const std::vector<fs::path> installed(std::sregex_token_iterator(text.begin(), text.end(), kWord),
                                        {});
  const auto is_installed = [&](const fs::path& path) {
    return std::ranges::any_of(installed, [&](const fs::path& one) {
      return std::ranges::mismatch(one, path).in1 == one.end();
    });
  };
  for (const char* name : {"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/guide.md"}) {
    EXPECT_TRUE(is_installed(name)) << name;
  }
  for (const char* name : {"tests/fuzz/fuzz.py", "client/main.cc", "daemon/main.cc"}) {
    EXPECT_FALSE(is_installed(name)) << name;
  }
  for (const fs::path& document : documents_in(root)) {
    if (!is_installed(document.lexically_relative(root))) continue;
    for (const fs::path& link : links_of(document)) {
      EXPECT_TRUE(is_installed(link)) << document << " links to " << link;
    }
  }
}

}  // namespace
