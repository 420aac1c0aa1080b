// What each fuzzer starts from and what it has found, once each.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// PARETO_FUZZERS: FUZZER(name) for each of CMakeLists.txt, whose entry point has that name here.
#define FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
PARETO_FUZZERS
#undef FUZZER

namespace {

namespace fs = std::filesystem;

struct Fuzzer {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};

#define FUZZER(name) Fuzzer{#name, fuzz_##name},
const Fuzzer kFuzzers[]{PARETO_FUZZERS};
#undef FUZZER

class FuzzCorpus : public testing::TestWithParam<Fuzzer> {};
INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(kFuzzers),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(FuzzCorpus, DoesNoHarm) {
  int files = 0;
  const fs::path folder = fs::path(PARETO_SOURCE_DIR "/tests/fuzz/corpus") / GetParam().name;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 0) << folder;
}

TEST_P(FuzzCorpus, NorDoNoBytesAtAll) { EXPECT_EQ(GetParam().run(nullptr, 0), 0); }

/// A parser that takes each of them must refuse each beginning of them as well, or take it.
TEST_P(FuzzCorpus, NorDoTheirBeginnings) {
  const fs::path folder = fs::path(PARETO_SOURCE_DIR "/tests/fuzz/corpus") / GetParam().name;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::size_t step = 1 + bytes.size() / 50;
    for (std::size_t size = 1; size < bytes.size(); size += step) {
      EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(bytes.data()), size), 0);
    }
  }
}

}  // namespace
