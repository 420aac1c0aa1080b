#include "runtime/archive/definition_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pareto::runtime {
namespace {

std::string class_of(std::size_t number, const std::string& attribute_type) {
  return "class C" + std::to_string(number) + "(Module):\n  a : " + attribute_type + "\n";
}

/// Classes of which each names the next one, in one file.
std::string chain_of(std::size_t length) {
  std::string code;
  for (std::size_t i = 0; i < length; ++i) {
    code += class_of(i, i + 1 < length ? "__torch__.C" + std::to_string(i + 1) : "int");
  }
  return code;
}

bool chain_refused(const std::string& code) {
  DefinitionChain chain;
  chain.add("code/__torch__.py", code);
  const auto checked = chain.check();
  if (!checked) {
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checked.error().message, testing::HasSubstr("more than 500 classes and functions"));
  }
  return !checked;
}

TEST(DefinitionChain, MayBeAsLongAsItMay) {
  EXPECT_FALSE(chain_refused(chain_of(kLongestChain - 1)));
  EXPECT_TRUE(chain_refused(chain_of(kLongestChain + 1)));
}

TEST(DefinitionChain, OfManyThatNameOneIsShort) {
  std::string code = class_of(0, "int");
  for (std::size_t i = 1; i < 5000; ++i) code += class_of(i, "__torch__.C0");
  EXPECT_FALSE(chain_refused(code));
  // So is one that names thousands.
  std::string all = "class All(Module):\n";
  for (std::size_t i = 0; i < 5000; ++i) {
    all += "  a" + std::to_string(i) + " : __torch__.C" + std::to_string(i) + "\n";
  }
  EXPECT_FALSE(chain_refused(code + all));
}

TEST(DefinitionChain, ACircleHasAnEnd) {
  EXPECT_FALSE(chain_refused(class_of(0, "__torch__.C1") + class_of(1, "__torch__.C0")));
  EXPECT_FALSE(chain_refused(class_of(0, "__torch__.C0")));
}

TEST(DefinitionChain, LeadsFromFileToFile) {
  for (const std::size_t length : {kLongestChain - 2, kLongestChain + 2}) {
    DefinitionChain chain;
    for (std::size_t i = 0; i < length; ++i) {
      const std::string next = "__torch__.m" + std::to_string(i + 1) + ".C";
      chain.add("code/__torch__/m" + std::to_string(i) + ".py",
                "class C(Module):\n  a : " + (i + 1 < length ? next : "int") + "\n");
    }
    EXPECT_EQ(chain.check().has_value(), length < kLongestChain) << length;
  }
}

TEST(DefinitionChain, NamesOfMembersAreOfTheirClass) {
  std::string code;
  for (std::size_t i = 0; i <= kLongestChain + 1; ++i) {
    code += class_of(i, "__torch__.C" + std::to_string(i + 1) + ".inner.value");
  }
  EXPECT_TRUE(chain_refused(code));
}

TEST(DefinitionChain, LettersMayBeLargeOrSmall) {
  std::string code;
  for (std::size_t i = 0; i <= kLongestChain + 1; ++i) {
    code += class_of(i, "__torch__.c" + std::to_string(i + 1));
  }
  EXPECT_TRUE(chain_refused(code));
}

TEST(DefinitionChain, FunctionsCountAsClassesDo) {
  std::string code;
  for (std::size_t i = 0; i <= kLongestChain + 1; ++i) {
    code += "def f" + std::to_string(i) + "(x: int) -> int:\n  return __torch__.f" +
            std::to_string(i + 1) + "(x)\n";
  }
  EXPECT_TRUE(chain_refused(code));
}

TEST(DefinitionChain, NamesThatNobodyDefinesEndIt) {
  EXPECT_FALSE(chain_refused(class_of(0, "__torch__.nothing.at.all") + "x = __torch__\n"));
  EXPECT_FALSE(chain_refused(""));
}

/// Time that grows with the product of names and definitions would be a way to keep a daemon busy.
TEST(DefinitionChain, AMegabyteOfNamesIsLookedThrough) {
  std::string code = chain_of(400);
  while (code.size() < (1U << 20)) code += "  b : __torch__.C7.x.y.z.w.v.u\n";
  EXPECT_FALSE(chain_refused(code));
}

}  // namespace
}  // namespace pareto::runtime
