#include "runtime/operator_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LibrariesInAFolder : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const auto path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  TemporaryFolder folder_ = TemporaryFolder::create("pareto-libraries-test").value();
};

TEST_F(LibrariesInAFolder, NoneAreLoadedAtOnce) { EXPECT_TRUE(load_operator_libraries({})); }

TEST_F(LibrariesInAFolder, AFileThatIsNotThereIsNotFound) {
  for (const std::string& name : {(folder_.path() / "none.so").string(), folder_.path().string(),
                                  std::string(), std::string("libm.so.6")}) {
    const auto loaded = load_operator_libraries({name});
    ASSERT_FALSE(loaded) << name;
    EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound) << "not looked for elsewhere";
    EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("library of operators"), HasSubstr(name)));
  }
}

TEST_F(LibrariesInAFolder, WhatIsNoLibraryIsRefusedWithTheReason) {
  const std::string program = read_file("/proc/self/exe", std::size_t{1} << 30)
                                  .value_or(
                                      "\x7f"
                                      "ELF");
  for (const std::string& bytes :
       {std::string(), std::string("text"), std::string(10'000, '\0'), program.substr(0, 100)}) {
    const std::string file = write("damaged.so", bytes);
    const auto loaded = load_operator_libraries({file});
    ASSERT_FALSE(loaded) << bytes.size();
    EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(loaded.error().message, AllOf(HasSubstr(file), HasSubstr("it cannot be loaded ("),
                                              HasSubstr("built for this machine and LibTorch")));
  }
}

TEST_F(LibrariesInAFolder, TheFirstThatFailsIsNamed) {
  const std::string first = write("first.so", "no library");
  const auto loaded = load_operator_libraries({first, (folder_.path() / "second.so").string()});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("first.so"));
}

}  // namespace
}  // namespace pareto::runtime
