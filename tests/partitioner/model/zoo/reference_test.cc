// Every built-in model against torchvision's, or one of torch.nn if torchvision lacks it: same
// names, shapes and order of weights, same outputs with the same weights, same dropouts and norms
// for training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/file.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/zoo/checkpoint.h"
#include "partitioner/model/zoo/model_builder.h"
#include "tests/support/process.h"

namespace pareto::model::zoo {
namespace {

struct Reference {
  const char* ours;
  const char* theirs;
  std::int64_t size;
};

/// Swin's windows of 7 fit sides of 112, and do not those of 64.
constexpr Reference kReferences[] = {{"mobilenetv2", "mobilenet_v2", 64},
                                     {"mobilenetv3_large", "mobilenet_v3_large", 64},
                                     {"shufflenet_v2", "shufflenet_v2_x1_0", 64},
                                     {"efficientnet_b0", "efficientnet_b0", 64},
                                     {"resnet18", "resnet18", 64},
                                     {"resnet50", "resnet50", 64},
                                     {"vgg16", "vgg16", 64},
                                     {"alexnet", "alexnet", 96},
                                     {"inceptionv3", "inception_v3", 96},
                                     {"googlenet", "googlenet", 64},
                                     {"squeezenet1_0", "squeezenet1_0", 64},
                                     {"densenet121", "densenet121", 64},
                                     {"vit_b_16", "vit_b_16", 64},
                                     {"swin_t", "swin_t", 64},
                                     {"swin_t", "swin_t", 112},
                                     {"deeplabv3_resnet50", "deeplabv3_resnet50", 72},
                                     {"yolov8n", "yolov8n", 96}};

class Torchvision : public testing::TestWithParam<Reference> {};

/// Returns "name shape" of every entry that a model for inference has.
std::vector<std::string> names_in(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find("num_batches_tracked") == std::string::npos && line.rfind("AuxLogits.", 0) != 0) {
      names.push_back(line);
    }
  }
  return names;
}

/// Returns "path dropout share" and "path batch_norm momentum" of all that training changes,
/// sorted.
std::vector<std::string> training_of(const Flat& flat) {
  std::vector<std::string> found;
  for (torch::jit::Node* node : operators_of(*flat.graph)) {
    const bool drops = node->kind() == c10::aten::dropout;
    if (!drops && node->kind() != c10::aten::batch_norm) continue;
    const auto number = torch::jit::toIValue(node->input(drops ? 1 : 6));
    found.push_back(fmt::format("{} {} {}", scope_path(node), drops ? "dropout" : "batch_norm",
                                number ? number->toDouble() : -1));
    EXPECT_FALSE(torch::jit::constant_as<bool>(node->input(drops ? 2 : 5)).value_or(true));
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> sorted_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

Tensor tensor_at(const std::shared_ptr<const std::string>& bytes, std::size_t offset, Shape shape) {
  return Tensor::borrow(DType::kFloat32, std::move(shape),
                        reinterpret_cast<const std::byte*>(bytes->data()) + offset, bytes)
      .value();
}

TEST_P(Torchvision, SameWeightsSameOutputs) {
  constexpr std::int64_t kClasses = 7;
  const auto folder = TemporaryFolder::create("pareto-reference").value();
  const std::string name = GetParam().theirs;
  const auto path = [&](const std::string& ending) { return folder.path() / (name + ending); };
  const auto made = test::run(
      {"/usr/bin/python3",
       std::string(PARETO_SOURCE_DIR) + "/tests/partitioner/model/zoo/make_references.py", name,
       std::to_string(kClasses), std::to_string(GetParam().size), folder.path().string()});
  ASSERT_EQ(made.exit_code, 0) << "python3-torchvision must be installed: " << made.errors;

  ModelOptions options;
  options.num_classes = kClasses;
  options.input = {{{3, GetParam().size, GetParam().size}, DType::kFloat32}};
  options.weights = path(".pth").string();
  const auto model = open_model(GetParam().ours, options);
  ASSERT_TRUE(model) << model.error().message;

  std::vector<std::string> names;
  for (const FlatWeight& weight : model->flat().weights) {
    if (weight.in_state_dict) {
      names.push_back(weight.name + " " + to_string(weight.tensor.sizes().vec()));
    }
  }
  EXPECT_EQ(names, names_in(path(".names")));
  EXPECT_EQ(training_of(model->flat()), sorted_lines(path(".training")));

  const auto io = std::make_shared<const std::string>(read_file(path(".io")).value());
  const Tensor input = tensor_at(io, 0, {2, 3, GetParam().size, GetParam().size});
  const auto outputs = model->run_whole({input});
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1U);
  const Tensor& ours = *outputs->front().get_if<Tensor>();
  ASSERT_EQ(io->size(), input.size_bytes() + ours.size_bytes());
  const Tensor expected = tensor_at(io, input.size_bytes(), ours.shape());
  EXPECT_LE(relative_error(expected, outputs->front()), 1e-5);

  // The older form of the same checkpoint holds the same tensors.
  const auto modern = read_checkpoint(path(".pth"));
  const auto legacy = read_checkpoint(path(".legacy.pth"));
  ASSERT_TRUE(modern) << modern.error().message;
  ASSERT_TRUE(legacy) << legacy.error().message;
  ASSERT_EQ(modern->size(), legacy->size());
  for (std::size_t i = 0; i < modern->size(); ++i) {
    EXPECT_EQ((*modern)[i].first, (*legacy)[i].first);
    EXPECT_TRUE(bit_equal((*modern)[i].second, (*legacy)[i].second)) << (*modern)[i].first;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Torchvision, testing::ValuesIn(kReferences), [](const auto& test) {
  return test.param.ours + ("_at_" + std::to_string(test.param.size));
});

TEST(BuiltinModels, EachIsComparedWithAReference) {
  std::set<std::string_view> compared;
  for (const Reference& one : kReferences) compared.insert(one.ours);
  for (const auto& builder : builtin_models()) {
    EXPECT_TRUE(compared.contains(builder->name())) << builder->name();
  }
}

}  // namespace
}  // namespace pareto::model::zoo
