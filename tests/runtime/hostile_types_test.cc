// Shards that take a value for one of another type: LibTorch would read past its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/strange_shard.h"
#include "tests/support/rewritten_archive.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// Returns the archive of a shard whose attributes `small` and `large` are objects of the classes
/// Small (no attributes) and Large (one).
std::string archive_of_two_classes() {
  const torch::jit::Module small("__torch__.Small");
  torch::jit::Module large("__torch__.Large");
  large.register_attribute("a50", c10::IntType::get(), 7);
  torch::jit::Module module("__torch__.Shard");
  module.register_module("small", small);
  module.register_module("large", large);
  module.define("def run(self, x):\n    return (x + torch.tensor([1.5]) * self.large.a50,)\n");
  std::ostringstream bytes;
  module.save(bytes);
  return bytes.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Returns a shard of two classes whose method is rewritten.
plan::Shard shard_with_body(const std::string& body, const std::string& result = "Tensor") {
  plan::Shard shard = test::shard_of("\ndef run(self, x):\n    return (x,)\n");
  shard.archive = test::rewritten_archive(archive_of_two_classes(), [&](const std::string& code) {
    const std::size_t at = code.find("  def run(");
    EXPECT_NE(at, std::string::npos) << code;
    return code.substr(0, at) + "  def run(self: __torch__.Shard, x: Tensor) -> Tuple[" + result +
           "]:\n    n = int(torch.sum(x))\n    " + body + "\n" +
           code.substr(std::min(code.find("class ", at), code.size()));
  });
  return shard;
}

/// Returns a shard of two classes of which one record is rewritten.
plan::Shard shard_with_record(const std::function<std::string(std::string)>& rewrite,
                              const std::string& record, const std::string& body) {
  plan::Shard shard = shard_with_body(body);
  shard.archive = test::rewritten_archive(shard.archive, rewrite, record);
  return shard;
}

/// Expects that a shard is refused, and returns the words.
std::string refusal(const plan::Shard& shard, ErrorCode code) {
  const auto runner = test::load(shard);
  if (runner) {
    ADD_FAILURE() << "it was taken";
    return "";
  }
  EXPECT_EQ(runner.error().code, code) << runner.error().message;
  return runner.error().message;
}

TEST(HostileTypes, CastsThatNothingChecksAreRefused) {
  struct Case {
    std::string body;
    std::string to;
    std::string result = "Tensor";
  };
  std::string many = "x";
  for (int i = 1; i < 1000; ++i) many += ", x";
  for (const Case& bad :
       {Case{"a, b, c, = unchecked_cast(Tuple[Tensor, Tensor, Tensor], (x, x))\n    return (a,)",
             "Tuple[Tensor, Tensor, Tensor]"},
        // LibTorch folds what is constant while it reads the code.
        Case{"a, b, c, = unchecked_cast(Tuple[int, int, int], (1, 2))\n    return (x * a * b * c,)",
             "Tuple[int, int, int]"},
        Case{"a, b, = unchecked_cast(Tuple[int, int], (1, 2, 3))\n    return (x * a * b,)",
             "Tuple[int, int]"},
        Case{"return (x * unchecked_cast(__torch__.Large, self.small).a50,)", "__torch__.Large"},
        Case{"return unchecked_cast(Tuple[Tensor], (" + many + "))", "Tuple[Tensor]"},
        Case{"l = unchecked_cast(List[Tuple[int, int]], [(1,)])\n    a, b, = l[n - n]\n"
             "    return (x * a * b,)",
             "List[Tuple[int, int]]"},
        Case{"d = unchecked_cast(Dict[int, Tuple[int, int]], {1: (n,)})\n    a, b, = d[1]\n"
             "    return (x * a * b,)",
             "Dict[int, Tuple[int, int]]"},
        Case{"y = annotate(Any, (x, x))\n"
             "    a, b, c, = unchecked_cast(Tuple[Tensor, Tensor, Tensor], y)\n    return (a,)",
             "Tuple[Tensor, Tensor, Tensor]"},
        Case{"if torch.gt(n, 0):\n"
             "      a, b, c, = unchecked_cast(Tuple[Tensor, Tensor, Tensor], (x, x))\n"
             "    else:\n      a = x\n    return (a,)",
             "Tuple[Tensor, Tensor, Tensor]"}}) {
    const std::string words =
        refusal(shard_with_body(bad.body, bad.result), ErrorCode::kPermission);
    EXPECT_THAT(words, HasSubstr("the archive: __torch__.Shard.run: a value of the type "))
        << bad.body.substr(0, 200);
    EXPECT_THAT(words, HasSubstr("is taken for a " + bad.to + ", and nothing checks it"));
  }
}

TEST(HostileTypes, CastsThatTheCompilerWritesAreTaken) {
  const plan::Shard shard = test::shard_of(R"(
def one(self, x, t: Optional[Tuple[int, int]], l: Optional[List[Tensor]]):
    if t is not None:
        a, b = t
        x = x * a + b
    if l is not None:
        x = x + l[0]
    return x
def other(self, y: Union[Tensor, List[Tensor], Dict[str, Tensor]]):
    if isinstance(y, Tensor):
        return y + 1
    elif isinstance(y, List[Tensor]):
        return y[0] + y[1]
    else:
        return y["a"]
def anything(self, y: Any):
    if isinstance(y, Tensor):
        return y * 2
    return torch.zeros([1, 4])
def run(self, x):
    y = self.one(x, (2, 3), [x]) + self.one(x, None, None)
    d: Dict[str, Tensor] = {"a": x}
    z = self.other(x) + self.other([x, x]) + self.other(d)
    return (y, z, self.anything(x), self.anything(1))
)");
  const auto runner = test::load(shard);
  ASSERT_TRUE(runner) << runner.error().message;
  const auto outputs = (*runner)->run(test::ones());
  ASSERT_TRUE(outputs) << outputs.error().message;
  const std::vector<float> expected{7, 5, 2, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(to_torch(*(*outputs)[i].get_if<Tensor>())[0][0].item<float>(), expected[i]) << i;
  }
}

TEST(HostileTypes, AValueOfAnotherKindIsFoundWhenItIsUsed) {
  const std::string wide = "Tuple[Tensor, Tensor, Tensor]";
  for (const std::string& value :
       {"unchecked_cast(" + wide + ", x)", "unchecked_cast(" + wide + ", n)",
        "unchecked_cast(" + wide + ", [x])", "unchecked_cast(" + wide + ", None)",
        "unchecked_cast(" + wide + ", self.small)", "uninitialized(" + wide + ")"}) {
    const auto runner = test::load(shard_with_body("a, b, c, = " + value + "\n    return (a,)"));
    ASSERT_TRUE(!runner || !(*runner)->run(test::ones())) << value;
  }
  for (const char* const result :
       {"x * unchecked_cast(__torch__.Large, x).a50", "x * unchecked_cast(__torch__.Large, n).a50",
        "x * unchecked_cast(__torch__.Large, (x, x)).a50",
        "x * unchecked_cast(__torch__.Large, None).a50", "x * uninitialized(__torch__.Large).a50",
        "unchecked_cast(List[Tensor], (x, x))[n - n]", "unchecked_cast(List[Tensor], x)[n - n]",
        "unchecked_cast(List[Tensor], {n: x})[n - n]",
        "unchecked_cast(Dict[int, Tensor], [x])[n - n]",
        "unchecked_cast(Dict[int, Tensor], n)[n - n]", "uninitialized(List[Tensor])[n - n]",
        "torch.cat(unchecked_cast(List[Tensor], (x, x)))", "torch.neg(unchecked_cast(Tensor, [x]))",
        "torch.neg(unchecked_cast(Tensor, None))", "torch.neg(unchecked_cast(Tensor, self.small))",
        "torch.neg(uninitialized(Tensor))", "torch.reshape(x, unchecked_cast(List[int], x))",
        "x * unchecked_cast(int, [x])", "x * torch.len(unchecked_cast(str, x))"}) {
    const auto runner = test::load(shard_with_body(std::string("return (") + result + ",)"));
    ASSERT_TRUE(!runner || !(*runner)->run(test::ones())) << result;
  }
}

TEST(HostileTypes, NodesOfTheLanguageAreNotCalledByName) {
  for (const char* const call : {"TupleUnpack((1, 2))", "TupleUnpack((x, x))", "tolist()",
                                 "ListUnpack([x])", "unchecked_cast(x)"}) {
    EXPECT_THAT(refusal(shard_with_body(std::string("ops.prim.") + call + "\n    return (x,)"),
                        ErrorCode::kPermission),
                HasSubstr("no shard may call prim::"))
        << call;
  }
}

TEST(HostileTypes, AnAttributeOfAnotherClassIsRefused) {
  const auto load_with = [](const std::string& from, const std::string& to) {
    return shard_with_record(
        [&](std::string values) { return replaced(std::move(values), from, to); }, "data.pkl",
        "return (x * self.large.a50,)");
  };
  ASSERT_TRUE(test::load(load_with("Large", "Large")));
  EXPECT_THAT(refusal(load_with("Large", "Small"), ErrorCode::kCorrupt),
              HasSubstr("the archive: the attribute large of __torch__.Shard is an object of "
                        "__torch__.Small, but its type is __torch__.Large"));
  // A whole number of one byte.
  EXPECT_THAT(refusal(load_with("K\x07", "\x88"), ErrorCode::kCorrupt),
              HasSubstr("the attribute a50 of __torch__.Large is a value of the kind Bool, but its "
                        "type is int"));
  EXPECT_THAT(refusal(load_with("K\x07", "N"), ErrorCode::kCorrupt), HasSubstr("kind None"));
}

/// Returns constants of which the only one is a list of one tuple of `count` numbers that says it
/// is a List[Tuple[int, int]].
std::string pickled_list_of_pairs(int count) {
  const std::string type = "List[Tuple[int, int]]";
  const std::string tuple = count == 1 ? "K\x01\x85" : "K\x01K\x01\x86";
  std::string pickle("\x80\x02", 2);
  pickle += "ctorch.jit._pickle\nrestore_type_tag\n](" + tuple + "eX";
  pickle += static_cast<char>(type.size());
  pickle += std::string(3, '\0') + type + "\x86R\x85.";
  return pickle;
}

TEST(HostileTypes, AConstantThatLiesAboutItsTypeIsRefused) {
  const auto load_with = [](int count) {
    return shard_with_record([&](const std::string&) { return pickled_list_of_pairs(count); },
                             "constants.pkl",
                             "a, b, = CONSTANTS.c0[n - n]\n    return (x * a * b,)");
  };
  const auto honest = test::load(load_with(2));
  ASSERT_TRUE(honest) << honest.error().message;
  EXPECT_TRUE((*honest)->run(test::ones()));
  EXPECT_THAT(refusal(load_with(1), ErrorCode::kCorrupt),
              HasSubstr("the archive: a constant of its code is a tuple of 1, but its type is "
                        "Tuple[int, int]"));
}

}  // namespace
}  // namespace pareto::runtime
