#include "runtime/archive/code_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// Returns what is wrong with a shard's code; empty: nothing.
std::string problem_of_code(const std::string& code) {
  CodeCalls calls;
  if (const auto added = calls.add(code); !added) return added.error().message;
  const auto checked = calls.check(code);
  return checked ? "" : checked.error().message;
}

/// Returns what is wrong with a statement in the shard's method.
std::string in_body(const std::string& statement) {
  return problem_of_code(
      "class Shard(Module):\n  training : bool\n  def run(self, x: Tensor) -> Tensor:\n    " +
      statement + "\n    return x\n");
}

TEST(CodeCalls, WhatShardsComputeIsAllowed) {
  for (const char* const good : {"y = torch.relu(x)",
                                 "y = torch.add(torch.mul(x, 2), 1, alpha=1)",
                                 "y = x.relu().sum()",
                                 "d = ops.prim.device(x)",
                                 "n = int(torch.len([1, 2]))",
                                 "y = (x + 1) * 2",
                                 "w = getattr(self, \"features.0.weight\")",
                                 "l = annotate(List[Tensor], [])",
                                 "y = torch.conv2d(\n  x,\n  x)",
                                 "if torch.gt(torch.dim(x), 1):\n      y = x",
                                 "for i in range(3):\n      y = torch.select(x, 0, i)",
                                 "print_me = x",
                                 "y = [torch.t(x)][0]",
                                 "y = \"torch.save(x)\"",
                                 "ops.prim.RaiseException(\"no\")  # torch.save(x)",
                                 "y = uninitialized(Tensor)",
                                 "z = unchecked_cast(Tensor, x)",
                                 "a = 1.5e-3 + .5 + 1j",
                                 "y = CONSTANTS.c0",
                                 "y = ops.quantized.conv2d(x, CONSTANTS.c0, 1., 0)"}) {
    EXPECT_EQ(in_body(good), "") << good;
  }
}

TEST(CodeCalls, OperatorsThatDoMoreAreRefusedByName) {
  struct Case {
    const char* statement;
    const char* message;
  };
  for (const Case& bad : {
           Case{"y = torch.from_file(\"/etc/passwd\", False, 10)", "aten::from_file: it reads"},
           Case{"torch.save(x, \"/tmp/x\")", "aten::save: it reads or writes files"},
           Case{"x.save(\"/tmp/x\")", "aten::save"},
           Case{"\"/etc/passwd\".from_file(False, 10)", "aten::from_file"},
           Case{"y = torch .\\\n from_file(\"/etc/passwd\")", "aten::from_file"},
           Case{"y = (torch.\n   from_file)(\"/etc/passwd\")", "\"torch.from_file\""},
           Case{"y = ops.aten.from_file(\"/etc/passwd\")", "aten::from_file"},
           Case{"t = torch", "\"torch\" except to call"},
           Case{"o = ops.c10d", "\"ops.c10d\" except to call"},
           Case{"ops.c10d.barrier(x)", "c10d::barrier: it talks to other machines"},
           Case{"ops.prim.PythonOp(x)", "prim::PythonOp: it runs Python"},
           Case{"y = ops.image.read_file(\"/etc/passwd\")", "image::read_file"},
           Case{"y = ops.torchvision.nms(x, x, 0.5)", "torchvision::nms is not one that shards"},
           Case{"y = ops.pareto.go_on()", "pareto::go_on is not one"},
           Case{"ops.prim.TupleUnpack((1, 2))", "prim::TupleUnpack by its name"},
           Case{"l = ops.prim.tolist()", "prim::tolist by its name"},
           Case{"torch.autograd.backward(x)", "\"torch.autograd.backward\""},
           Case{"print(\"x\")", "\"print\""},
           Case{"p = print", "\"print\""},
           Case{"fork(self.run, x)", "\"fork\""},
           Case{"f(x)", "may call \"f\""},
           Case{"y = getattr(x, \"save\")(\"/tmp/x\")", "may call a value"},
           Case{"y = [x.save][0](\"/tmp/x\")", "may call a value"},
           Case{"y = x.unheard_of()", "aten::unheard_of is not one"},
           Case{"y = __torch__.other.f(x)", "f, which the archive does not define"},
           Case{"s = __torch__.torch.classes.dist_c10d.TCPStore(\"h\", 1, 2, True, 3)",
                "the class dist_c10d.TCPStore"},
           Case{"y = annotate(__torch__.torch.classes.dist_rpc.WorkerInfo, x)",
                "the class dist_rpc.WorkerInfo"},
           Case{"with x:\n      y = x", "\"with\""},
           Case{"import os", "\"import\""},
           Case{"y = 1if(x)else(2)", "a number runs into a name"},
           Case{"y = \"a", "a text has no end"},
           Case{"y = x\f", "a character that no code has"},
       }) {
    EXPECT_THAT(in_body(bad.statement), HasSubstr(bad.message)) << bad.statement;
  }
}

TEST(CodeCalls, AMethodDoesNotHideAnOperator) {
  EXPECT_EQ(problem_of_code("def part(x: Tensor) -> Tensor:\n  return x\n"
                            "def run(x: Tensor) -> Tensor:\n  return __torch__.part(x)\n"),
            "");
  EXPECT_THAT(problem_of_code("class S(Module):\n  def save(self, x: Tensor):\n    return x\n"
                              "  def run(self, x: Tensor):\n    return x.save(\"f\")\n"),
              HasSubstr("aten::save"));
}

TEST(CodeCalls, NothingIsComputedWhileItIsRead) {
  for (const char* const code :
       {"def run(self, x: Tensor, n: int=torch.len([1])):\n  return x\n",
        "def run(self, x: Tensor, n: List[int]=[0 for i in [1]]):\n  return x\n",
        "def run(self, x: Tensor, n: List[int]=[0] * 1000000000000):\n  return x\n",
        "def run(self, x: Tensor, n: int=CONSTANTS.c0[0]):\n  return x\n",
        "def run(self, x: Tensor, n: int=CONSTANTS . c0.m.a50):\n  return x\n",
        "def run(self, x: Tensor, n: int=[CONSTANTS.c0][0]):\n  return x\n",
        "class S(Module):\n  n : Final[int] = (CONSTANTS.c0, 1)[0]\n",
        "class S(NamedTuple):\n  n : int = torch.len([1])\n",
        "class S(Module):\n  n : Final[int] = 3 * 1000000000000\n"}) {
    EXPECT_THAT(problem_of_code(code), HasSubstr("computed as it is read")) << code;
  }
  EXPECT_EQ(problem_of_code("class S(Module):\n  __parameters__ = [\"a\", ]\n"
                            "  n : Final[List[int]] = [3, -1]\n"
                            "  t : Dict[str, List[int]]\n"
                            "  def part(self, x: Dict[str, List[int]], y: Tensor=CONSTANTS.c0):\n"
                            "    return y\n"
                            "  def run(self, x: Tensor, n: int=-1, s: str=\"*\") -> Tensor:\n"
                            "    return torch.mul(x, n * 2)\n"),
            "");
  for (const char* const name : {"__setstate__", "__getstate__"}) {
    EXPECT_THAT(
        problem_of_code(fmt::format("class S(Module):\n  def {}(self, s: int):\n    pass\n", name)),
        HasSubstr("would run it on loading"));
  }
}

TEST(CodeCalls, ClassesInPicklesAreThoseOfPackedWeights) {
  EXPECT_TRUE(check_pickled_classes(
      "\x80\x02"
      "c__torch__.torch.classes.quantized\nConv2dPackedParamsBase\nq\x01)\x81."));
  for (const char* const pickle : {"\x80\x02"
                                   "c__torch__.torch.classes.dist_c10d\nTCPStore\nq\x01)\x81.",
                                   "\x80\x02"
                                   "c__torch__\ntorch.classes.dist_c10d.TCPStore\n)\x81.",
                                   "X\x30__torch__.torch.classes.profiling._RecordFunction"}) {
    const auto checked = check_pickled_classes(pickle);
    ASSERT_FALSE(checked) << pickle;
    EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  }
}

TEST(CodeCalls, MoreCallsThanAnyModelHasAreRefused) {
  std::string code = "def run(x: Tensor):\n";
  for (std::size_t i = 0; i <= kMostCalls; ++i) code += "  torch.t(x)\n";
  EXPECT_THAT(problem_of_code(code), HasSubstr("calls"));
}

TEST(CodeCalls, NoClassIsAnEnum) {
  const auto of_base = [](const std::string& base) {
    return problem_of_code("class A(" + base + "):\n  RED = 0\n");
  };
  EXPECT_THAT(of_base("Enum"), HasSubstr("no shard may define an Enum"));
  EXPECT_THAT(of_base(" \\\n Enum "), HasSubstr("no shard may define an Enum"));
  EXPECT_EQ(of_base("Enums"), "");
}

}  // namespace
}  // namespace pareto::runtime
