// What the fuzzers of tests/fuzz start from, and what they have found, once each.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int fuzz_codec(const std::uint8_t* data, std::size_t size);
extern "C" int fuzz_frame(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const std::string& name, int (*fuzz)(const std::uint8_t*, std::size_t)) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(PARETO_SOURCE_DIR "/tests/fuzz/corpus/" + name)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(fuzz(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(FuzzCorpus, CodecsDoNoHarm) { replay("codec", fuzz_codec); }
TEST(FuzzCorpus, FramesDoNoHarm) { replay("frame", fuzz_frame); }

TEST(FuzzCorpus, NorDoNoBytesAtAll) {
  EXPECT_EQ(fuzz_codec(nullptr, 0), 0);
  EXPECT_EQ(fuzz_frame(nullptr, 0), 0);
}

}  // namespace
