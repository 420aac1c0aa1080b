#include "partitioner/model/readers/torchscript_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/custom_class.h>

#include "partitioner/model/graph/flat_graph.h"
#include "runtime/operator_libraries.h"
#include "tests/partitioner/model/readers/format_bytes.h"
#include "tests/partitioner/scripted.h"
#include "tests/support/debug_pickle.h"
#include "tests/support/rewritten_archive.h"

namespace pareto::model {
namespace {

using test::Files;
using test::scripted;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

Error load_error(const std::filesystem::path& path) {
  const auto flat = read_model(path);
  EXPECT_FALSE(flat);
  return flat ? Error{} : flat.error();
}

std::vector<std::string> names(const Flat& flat) {
  std::vector<std::string> result;
  for (const FlatWeight& weight : flat.weights) result.push_back(weight.name);
  return result;
}

/// outer { inner { weight } }, inner called twice.
torch::jit::Module nested() {
  torch::jit::Module inner("__torch__.Inner");
  inner.register_parameter("weight", torch::ones({3, 3}), false);
  inner.register_buffer("offset", torch::ones({3}));
  inner.define("def forward(self, x):\n    return x.matmul(self.weight) + self.offset\n");
  torch::jit::Module outer("__torch__.Outer");
  outer.register_module("inner", inner);
  outer.register_attribute("scale", c10::FloatType::get(), 2.0);
  outer.define(
      "def forward(self, x):\n"
      "    return torch.relu(self.inner.forward(self.inner.forward(x))) * self.scale\n");
  return outer;
}

TEST(TorchScriptReader, RecognisesByTheListOfRecords) {
  const auto recognises = [](const std::string& bytes) {
    return torchscript_reader()->recognises(test::ends_of(bytes));
  };
  EXPECT_TRUE(
      recognises(test::zip_of("model/data.pkl model/code/__torch__.py model/constants.pkl")));
  EXPECT_TRUE(recognises(test::zip_of("model/code/x.py")));
  const std::string padding(3 << 20, 'x');
  EXPECT_TRUE(recognises("PK\x03\x04" + padding + "/code/ PK\x05\x06"));
  EXPECT_FALSE(recognises("PK\x03\x04/code/" + padding + "PK\x05\x06")) << "no record's name";
  EXPECT_FALSE(recognises("PK\x03\x04model/code/x.py")) << "its list is cut off";
}

TEST(TorchScriptReader, CallsAreInlinedUnderTheirModulePaths) {
  const Files files;
  const auto flat = read_model(files.save(nested(), "nested"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(flat->model, "nested");
  EXPECT_TRUE(flat->from_file);
  EXPECT_EQ(flat->model_inputs, 1U);
  std::vector<std::string> scopes;
  for (torch::jit::Node* node : operators_of(*flat->graph)) scopes.push_back(scope_path(node));
  EXPECT_THAT(scopes, ElementsAre("inner", "inner", "inner", "inner", "", ""));
}

TEST(TorchScriptReader, TensorsBecomeInputsOnceAndNumbersConstants) {
  const Files files;
  const auto flat = read_model(files.save(nested(), "nested"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_THAT(names(*flat), ElementsAre("inner.weight", "inner.offset"));
  EXPECT_TRUE(flat->weights[0].is_parameter);
  EXPECT_FALSE(flat->weights[1].is_parameter);
  EXPECT_EQ(flat->graph->inputs().size(), 3U);
}

TEST(TorchScriptReader, AForgedRecordOfPythonsLinesIsNotRead) {
  const Files files;
  const auto path = files.save(nested(), "nested");
  const auto rewrite = [&](const std::string& ending, const auto& change) {
    EXPECT_TRUE(write_file_atomically(
        path, pareto::test::rewritten_archive(read_file(path).value(), change, ending)));
  };
  rewrite(".debug_pkl", [](const std::string&) { return test::debug_pickle_out_of_bounds(); });
  EXPECT_TRUE(read_model(path));
  rewrite(".py", [](std::string code) {
    const std::size_t at = code.find("torch.matmul(");
    EXPECT_NE(at, std::string::npos) << code;
    return code.insert(at, "1 1 ");
  });
  EXPECT_EQ(load_error(path).code, ErrorCode::kCorrupt);
}

TEST(TorchScriptReader, TiedWeightsAreOne) {
  torch::jit::Module module("__torch__.Tied");
  const auto shared = torch::randn({4, 4});
  module.register_parameter("encoder", shared, false);
  module.register_parameter("decoder", shared, false);
  module.define("def forward(self, x):\n    return x.matmul(self.encoder).matmul(self.decoder)\n");
  const Files files;
  const auto flat = read_model(files.save(module, "tied"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_THAT(names(*flat), ElementsAre("encoder"));
}

TEST(TorchScriptReader, ConstantLoopsUnrollAndOthersStayOneOperator) {
  const Files files;
  const auto flat = read_model(files.save(test::scripted("Loops", R"(
def forward(self, x):
    for i in range(3):
        x = torch.relu(x) + i
    while bool(x.sum() > 100):
        x = x / 2
    return x
)"),
                                          "loops"));
  ASSERT_TRUE(flat) << flat.error().message;
  int loops = 0;
  int relus = 0;
  for (torch::jit::Node* node : operators_of(*flat->graph)) {
    loops += node->kind() == c10::prim::Loop ? 1 : 0;
    relus += node->kind() == c10::aten::relu ? 1 : 0;
  }
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(relus, 3);
}

TEST(TorchScriptReader, UnreadWeightsAreDropped) {
  torch::jit::Module module("__torch__.Unread");
  module.register_buffer("counter", torch::zeros({1}));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(
      "def forward(self, x):\n"
      "    if self.training:\n"
      "        self.counter.add_(1)\n"
      "    return torch.relu(x)\n");
  const Files files;
  const auto flat = read_model(files.save(module, "unread"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(flat->weights.empty()) << "files are loaded in eval mode";
  EXPECT_EQ(operators_of(*flat->graph).size(), 1U);
}

TEST(TorchScriptReader, LargeConstantsTravelAsWeights) {
  const Files files;
  auto module = test::scripted("Big", "def forward(self, x):\n    return x + torch.arange(100)\n");
  const auto flat = read_model(files.save(module, "big"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_THAT(names(*flat), ElementsAre("constants.0"));
}

TEST(TorchScriptReader, StateIsRefused) {
  torch::jit::Module module("__torch__.State");
  module.register_attribute("calls", c10::IntType::get(), 0);
  module.define(
      "def forward(self, x):\n"
      "    self.calls = self.calls + 1\n"
      "    return x + self.calls\n");
  const Files files;
  const Error error = load_error(files.save(module, "state"));
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("calls"));
}

TEST(TorchScriptReader, ListsAndDictsThatChangeAreState) {
  using Ints = c10::List<std::int64_t>;
  const Files files;
  const auto changing = [](const std::string& body) {
    torch::jit::Module module("__torch__.Changing");
    module.register_attribute("training", c10::BoolType::get(), true);
    module.register_attribute("scale", c10::ListType::ofFloats(), c10::List<double>({1.0}));
    module.register_attribute("table", c10::ListType::create(c10::ListType::ofInts()),
                              c10::List<Ints>({Ints({1, 2})}));
    module.define("def forward(self, x):\n" + body);
    return module;
  };
  const Error list = load_error(files.save(changing("    self.scale[0] = 2.0\n"
                                                    "    return x * self.scale[0]\n"),
                                           "list"));
  EXPECT_EQ(list.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(list.message, HasSubstr("attribute scale"));
  const Error later = load_error(files.save(changing("    y = x * self.scale[0]\n"
                                                     "    self.scale[0] = 2.0\n"
                                                     "    return y\n"),
                                            "later"));
  EXPECT_THAT(later.message, HasSubstr("attribute scale")) << "the next request would see it";
  const Error inner = load_error(files.save(changing("    self.table[0].append(3)\n"
                                                     "    return x * len(self.table[0])\n"),
                                            "inner"));
  EXPECT_THAT(inner.message, HasSubstr("attribute table"));
  const auto trained = read_model(files.save(changing("    if self.training:\n"
                                                      "        self.scale[0] = 2.0\n"
                                                      "    return x * self.scale[0]\n"),
                                             "trained"));
  EXPECT_TRUE(trained) << trained.error().message;
}

TEST(TorchScriptReader, TensorsInListsTuplesAndDictsAreWeights) {
  torch::jit::Module module("__torch__.Holding");
  const auto weight = torch::ones({4, 4});
  module.register_parameter("weight", weight, false);
  module.register_attribute("parts", c10::ListType::ofTensors(),
                            c10::List<at::Tensor>({weight, torch::ones({4})}));
  module.register_attribute(
      "pair", c10::TupleType::create({c10::TensorType::get(), c10::IntType::get()}),
      c10::ivalue::Tuple::create(std::vector<c10::IValue>{torch::ones({4}), std::int64_t{2}}));
  c10::Dict<std::string, at::Tensor> table;
  table.insert("offset", torch::ones({4}));
  module.register_attribute(
      "table", c10::DictType::create(c10::StringType::get(), c10::TensorType::get()), table);
  module.define(R"(
def forward(self, x):
    scale, times = self.pair
    for i in range(2):
        x = x.matmul(self.parts[0]) * self.parts[1]
    return x * scale * times + self.table["offset"]
)");
  const Files files;
  const auto flat = read_model(files.save(module, "holding"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_THAT(names(*flat), UnorderedElementsAre("weight", "parts.1", "pair.0", "table.0"));
  for (const FlatWeight& one : flat->weights) EXPECT_EQ(one.is_parameter, one.name == "weight");
}

/// Stands for the packed weights of a quantised layer.
struct Packed : torch::CustomClassHolder {};

TEST(TorchScriptReader, PackedWeightsStayWhole) {
  torch::class_<Packed> packed("pareto_test", "Packed");
  packed.def_pickle([](const c10::intrusive_ptr<Packed>&) { return std::int64_t{1}; },
                    [](std::int64_t) { return c10::make_intrusive<Packed>(); });
  torch::jit::Module module("__torch__.Quantised");
  module.register_attribute("packed", c10::getCustomClassType<c10::intrusive_ptr<Packed>>(),
                            c10::make_intrusive<Packed>());
  module.define("def forward(self, x):\n    return x, self.packed\n");
  const Files files;
  const auto flat = read_model(files.save(module, "quantised"));
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(flat->weights.empty()) << "they are a constant of the code";
  EXPECT_EQ(operators_of(*flat->graph).size(), 1U);
}

TEST(TorchScriptReader, TruncatedOrDamaged) {
  const Files files;
  const std::string bytes = read_file(files.save(nested(), "whole")).value();
  for (const std::size_t size : {std::size_t{100}, bytes.size() / 2, bytes.size() - 30}) {
    ASSERT_TRUE(
        write_file_atomically(files.path("cut.pt"), std::string_view(bytes).substr(0, size)));
    EXPECT_EQ(load_error(files.path("cut.pt")).code, ErrorCode::kCorrupt) << size;
  }
  const Error error = load_error(files.path("cut.pt"));
  EXPECT_THAT(error.message, HasSubstr("truncated"));
}

/// Writes the archive `source` to `path`, with `fresh` for the first `old` of each code file.
void save_with_code(const std::filesystem::path& source, const std::filesystem::path& path,
                    const std::string& old, const std::string& fresh) {
  const auto with_fresh = [&](std::string code) {
    const auto at = code.find(old);
    return at == std::string::npos ? code : code.replace(at, old.size(), fresh);
  };
  ASSERT_TRUE(write_file_atomically(
      path, pareto::test::rewritten_archive(read_file(source).value(), with_fresh)));
}

TEST(TorchScriptReader, OperatorsOfANewerLibTorch) {
  const Files files;
  const auto path = files.path("newer.pt");
  save_with_code(files.save(nested(), "nested"), path, "torch.relu(", "torch.from_the_future(");
  const Error error = load_error(path);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("from_the_future"));
  EXPECT_THAT(error.message, HasSubstr("newer LibTorch"));
}

TEST(TorchScriptReader, OperatorsOfALibraryNameIt) {
  const Files files;
  const auto source = files.save(nested(), "nested");
  for (const std::string library : {"torchvision", "torch_scatter"}) {
    const auto path = files.path(library + ".pt");
    save_with_code(source, path, "torch.relu(", "ops." + library + ".nms(");
    const Error error = load_error(path);
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_THAT(error.message, HasSubstr("needs the library " + library));
    EXPECT_THAT(error.message, Not(HasSubstr("older version")));
  }
}

TEST(TorchScriptReader, OperatorsOfALibraryThatWasLoadedAreKnown) {
  const Files files;
  const auto path = files.path("triple.pt");
  save_with_code(files.save(nested(), "nested"), path, "torch.relu(", "ops.pareto_test.triple(");
  EXPECT_THAT(load_error(path).message, HasSubstr("needs the library pareto_test"));
  const auto library = std::string(PARETO_BIN_DIR) + "/extra_operators.so";
  const auto loaded = runtime::load_operator_libraries({library});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto flat = read_model(path);
  ASSERT_TRUE(flat) << flat.error().message;
  const auto missing = runtime::load_operator_libraries({"/nowhere/lib.so"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/lib.so: no such file"));
  EXPECT_FALSE(runtime::load_operator_libraries({path.string()})) << "that is no library";
}

TEST(TorchScriptReader, CodeThatNestsTooDeeplyIsRefusedBeforeItIsParsed) {
  const Files files;
  const auto path = files.path("deep.pt");
  save_with_code(files.save(nested(), "nested"), path, "torch.relu(",
                 "torch.relu(" + std::string(200'000, '('));
  const Error error = load_error(path);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_THAT(error.message, HasSubstr("nests deeper than"));
}

}  // namespace
}  // namespace pareto::model
