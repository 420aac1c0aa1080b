#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::count;
using test::expect_same_when_flat;
using test::graph_of;
using test::interpreted;
using test::scripted;

/// Returns the number of reads of a dict that a method still has, after what can be known is.
std::size_t reads_left(const std::string& body) {
  const auto module = scripted("Dicts", "\ndef forward(self, x):\n" + body);
  const auto graph = graph_of(module);
  read_dicts(*graph);
  const at::Tensor x = at::randn({2, 3});
  const auto found = runtime::from_ivalue(interpreted(graph, module, {x.clone()}));
  const auto expected = runtime::from_ivalue(interpreted(graph_of(module), module, {x.clone()}));
  EXPECT_TRUE(found && expected) << body;
  if (found && expected) {
    EXPECT_TRUE(bit_equal(*found, *expected)) << body;
  }
  return count(graph, "aten::__getitem__") + count(graph, "aten::__contains__") +
         count(graph, "aten::get");
}

TEST(Dicts, UnderConstantKeysAreReadAhead) {
  EXPECT_EQ(reads_left("    d = {\"a\": x, \"b\": x + 1}\n    return d[\"b\"] * d[\"a\"]\n"), 0U);
  EXPECT_EQ(reads_left("    d = {1: x, 2: x + 1}\n    return d[2] - d[1]\n"), 0U);
  EXPECT_EQ(reads_left("    d = {\"a\": x}\n    d[\"b\"] = x * 2\n    return d[\"b\"]\n"), 0U);
}

TEST(Dicts, WhatIsWrittenLaterIsReadAsItStoodThen) {
  EXPECT_EQ(reads_left("    d = {\"a\": x}\n    y = d[\"a\"] + 1\n    d[\"a\"] = y\n"
                       "    return d[\"a\"] * y\n"),
            0U);
  // Of three values under one key each reader gets his own.
  EXPECT_EQ(reads_left("    d = {\"a\": x}\n    y = d[\"a\"]\n    d[\"a\"] = y + 1\n"
                       "    z = d[\"a\"]\n    d[\"a\"] = z * 2\n    return (y, z, d[\"a\"])\n"),
            0U);
}

TEST(Dicts, UnderKeysThatFollowFromTheDataAreLeft) {
  EXPECT_GE(reads_left("    d = {0: x, 1: x + 1}\n    k = int(x.sum() > 0)\n    return d[k]\n"),
            1U);
  // Nor what a branch may have written.
  EXPECT_GE(reads_left("    d = {\"a\": x}\n    if bool(x.sum() > 0):\n"
                       "        d[\"a\"] = x + 1\n    return d[\"a\"]\n"),
            1U);
  EXPECT_GE(reads_left("    d = {\"a\": x}\n    for i in range(x.size(0)):\n"
                       "        d[\"a\"] = d[\"a\"] + 1\n    return d[\"a\"]\n"),
            1U);
}

TEST(Dicts, ThatAreReturnedStayWhole) {
  EXPECT_EQ(reads_left("    d = {\"a\": x, \"b\": x + 1}\n    return d, d[\"a\"]\n"), 0U);
  expect_same_when_flat(scripted("Dicts", R"(
def forward(self, x):
    d = {"low": x - 1, "high": x + 1}
    d["middle"] = (d["low"] + d["high"]) * 0.5
    e = {"out": torch.relu(d["middle"]), "in": x}
    return e
)"),
                        "3");
}

TEST(Dicts, WhoseKeysAreAskedForAreTheSame) {
  for (const char* const body :
       {"    d = {\"a\": x}\n    if \"b\" in d:\n        return x - 1\n    return x + len(d)\n",
        "    d = {\"a\": x, \"b\": x + 1}\n    y = x\n    for k in d.keys():\n"
        "        y = y + d[k]\n    return y\n",
        "    d = {\"a\": x, \"b\": x + 1}\n    del d[\"a\"]\n    return (d, len(d))\n",
        "    d = {\"a\": x}\n    d.update({\"a\": x + 2})\n    return d[\"a\"]\n",
        "    d = {\"a\": x}\n    e = d\n    e[\"a\"] = x * 5\n    return d[\"a\"]\n",
        "    d = {\"a\": x}\n    l = [d]\n    l[0][\"a\"] = x * 5\n    return d[\"a\"]\n"}) {
    reads_left(body);  // checks what is computed
  }
}

}  // namespace
}  // namespace pareto::model
