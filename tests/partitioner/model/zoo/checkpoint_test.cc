// Checkpoints are foreign bytes.
#include "partitioner/model/zoo/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/model/zoo/network.h"
#include "partitioner/model/zoo/pickle.h"
#include "tests/support/process.h"

namespace pareto::model::zoo {
namespace {

using testing::HasSubstr;

class Checkpoint : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Runs Python that writes files into this test's folder, which it knows as `folder`.
  void python(const std::string& code) const {
    const auto done = test::run(
        {"/usr/bin/python3", "-c",
         "import torch, collections\nfolder = '" + folder_.path().string() + "'\n" + code});
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }
  static Flat squeezenet() {
    ModelOptions options;
    options.num_classes = 3;
    for (const auto& builder : builtin_models()) {
      if (builder->name() == "squeezenet1_0") return builder->build(options).value();
    }
    return {};
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("pareto-checkpoint").value();
};

TEST_F(Checkpoint, ViewsOfAnyLayoutAreReadRowByRow) {
  python(
      "base = torch.arange(24.).reshape(4, 6)\n"
      "torch.save({'t': base.t(), 'part': base[1:3, 2:5], 'half': base.half(), 'wrapped': 3}, "
      "folder + '/a.pth')\n"
      "torch.save({'state_dict': {'p': torch.nn.Parameter(base[0])}, 'epoch': 3}, folder + "
      "'/b.pth')\n");
  const auto entries = read_checkpoint(path("a.pth"));
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3U);
  const auto& transposed = (*entries)[0].second;
  EXPECT_EQ(transposed.shape(), (Shape{6, 4}));
  EXPECT_EQ(reinterpret_cast<const float*>(transposed.bytes().data())[1], 6.0F);
  const auto& part = (*entries)[1].second;
  EXPECT_EQ(reinterpret_cast<const float*>(part.bytes().data())[3], 14.0F);
  EXPECT_EQ((*entries)[2].second.dtype(), DType::kFloat16);
  EXPECT_EQ(read_checkpoint(path("b.pth")).value().at(0).first, "p");
}

TEST_F(Checkpoint, TruncatedAnywhereIsAnError) {
  python(
      "state = collections.OrderedDict(a=torch.ones(30), b=torch.zeros(2, 2))\n"
      "torch.save(state, folder + '/zip.pth')\n"
      "torch.save(state, folder + '/old.pth', _use_new_zipfile_serialization=False)\n");
  for (const char* name : {"zip.pth", "old.pth"}) {
    const std::string whole = read_file(path(name)).value();
    for (std::size_t kept = 0; kept < whole.size(); kept += 7) {
      std::ofstream(path("cut.pth"), std::ios::binary) << whole.substr(0, kept);
      const auto read = read_checkpoint(path("cut.pth"));
      ASSERT_FALSE(read) << name << " cut at " << kept;
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST_F(Checkpoint, NothingInItIsEverRun) {
  python(
      "import pickle, os\n"
      "class Evil:\n"
      "    def __reduce__(self):\n"
      "        return (os.system, ('touch ' + folder + '/ran',))\n"
      "torch.save({'a': torch.ones(1), 'b': Evil()}, folder + '/evil.pth')\n");
  const auto read = read_checkpoint(path("evil.pth"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("system"));
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(Checkpoint, ForeignPicklesNeverEscapeTheirBounds) {
  const auto refused = [](std::string_view text) { return !read_pickle(text).has_value(); };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("."));
  EXPECT_TRUE(refused("u."));
  EXPECT_TRUE(refused("R."));
  EXPECT_TRUE(refused("h\x05."));
  EXPECT_TRUE(
      refused(std::string_view("X\xff\xff\xff\xff"
                               "a.",
                               7)));
  EXPECT_TRUE(refused("cos\nsystem\n."));
  std::string deep = ")";
  for (int i = 0; i < 100000; ++i) deep += "\x85";
  EXPECT_TRUE(refused(deep + "."));
  // A list that is appended to itself, and one that holds a list that holds it.
  EXPECT_TRUE(refused(std::string_view("]q\0h\0a.", 7)));
  // A chain that grows at its inner end.
  std::string_view chain("]q\0]q\1ah\1]aa.", 14);
  const auto grown = read_pickle(chain);
  ASSERT_FALSE(grown);
  EXPECT_THAT(grown.error().message, HasSubstr("another one holds"));
}

TEST_F(Checkpoint, EarlierNamesOfTransformersAreKnown) {
  python(
      "torch.save({'layer.mlp.linear_1.weight': torch.full((2, 2), 1.), 'layer.mlp.linear_1.bias': "
      "torch.full((2,), 2.), 'layer.mlp.linear_2.weight': torch.full((2, 2), 3.), "
      "'layer.mlp.linear_2.bias': torch.full((2,), 4.), 'aux_classifier.0.weight': torch.ones(1)}, "
      "folder + '/early.pth')\n");
  Network net("two layers", 0);
  Network::Value x = net.linear(net.input(), "layer.mlp.0", 2, 2);
  Flat flat = net.finish(net.linear(x, "layer.mlp.3", 2, 2));
  const auto loaded = load_weights(flat, path("early.pth"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (std::size_t i = 0; i < flat.weights.size(); ++i) {
    EXPECT_TRUE(flat.weights[i].tensor.eq(static_cast<double>(i + 1)).all().item<bool>())
        << flat.weights[i].name;
  }
}

TEST_F(Checkpoint, PrefixesOfWrappersAreTakenOff) {
  python(
      "import torchvision\n"
      "state = torchvision.models.squeezenet1_0(weights=None, num_classes=3).state_dict()\n"
      "torch.save(state, folder + '/plain.pth')\n"
      "for name, prefix in (('parallel', 'module.'), ('both', 'module._orig_mod.')):\n"
      "    torch.save({prefix + key: value for key, value in state.items()}, folder + '/' + name + "
      "'.pth')\n");
  Flat plain = squeezenet();
  ASSERT_TRUE(load_weights(plain, path("plain.pth")));
  for (const char* name : {"parallel.pth", "both.pth"}) {
    Flat flat = squeezenet();
    const auto loaded = load_weights(flat, path(name));
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (std::size_t i = 0; i < flat.weights.size(); ++i) {
      EXPECT_TRUE(torch::equal(flat.weights[i].tensor, plain.weights[i].tensor)) << name;
    }
  }
}

TEST_F(Checkpoint, AWholePickledModuleIsToldHowToSaveItsWeights) {
  python(
      "net = torch.nn.Sequential(torch.nn.Linear(2, 2))\n"
      "torch.save(net, folder + '/whole.pth')\n"
      "torch.save(net, folder + '/old.pth', _use_new_zipfile_serialization=False)\n");
  for (const char* name : {"whole.pth", "old.pth"}) {
    const auto read = read_checkpoint(path(name));
    ASSERT_FALSE(read) << name;
    EXPECT_THAT(read.error().message, HasSubstr("torch.save(m.state_dict(), ")) << name;
  }
}

TEST_F(Checkpoint, IsFoundAmongWhatTrainingKeepsBesideIt) {
  python(
      "import torchvision\n"
      "state = torchvision.models.squeezenet1_0(weights=None, num_classes=3).state_dict()\n"
      "kept = {'epoch': 3, 'best_acc1': torch.tensor(0.5), 'state_dict': state,\n"
      "        'optimizer': {'state': {0: {'momentum_buffer': torch.ones(3)}}}}\n"
      "torch.save(kept, folder + '/new.pth')\n"
      "torch.save(kept, folder + '/old.pth', _use_new_zipfile_serialization=False)\n");
  for (const char* name : {"new.pth", "old.pth"}) {
    Flat flat = squeezenet();
    const auto loaded = load_weights(flat, path(name));
    EXPECT_TRUE(loaded) << name << ": " << loaded.error().message;
  }
}

TEST_F(Checkpoint, WeightsThatDoNotFitAreNamed) {
  python(
      "import torchvision\n"
      "state = torchvision.models.squeezenet1_0(weights=None, num_classes=3).state_dict()\n"
      "torch.save(state, folder + '/good.pth')\n"
      "torch.save({k: v for k, v in state.items() if k != 'features.3.squeeze.weight'}, folder + "
      "'/missing.pth')\n"
      "torch.save({**state, 'extra.weight': torch.ones(1)}, folder + '/extra.pth')\n"
      "torch.save(torchvision.models.squeezenet1_0(weights=None, num_classes=5).state_dict(), "
      "folder + '/five.pth')\n");
  const auto refusal = [&](const char* name) {
    Flat flat = squeezenet();
    const auto loaded = load_weights(flat, path(name));
    return loaded ? std::string("loaded") : loaded.error().message;
  };
  EXPECT_EQ(refusal("good.pth"), "loaded");
  EXPECT_THAT(refusal("missing.pth"), HasSubstr("has no \"features.3.squeeze.weight\""));
  EXPECT_THAT(refusal("extra.pth"), HasSubstr("extra.weight"));
  EXPECT_THAT(refusal("five.pth"), HasSubstr("another --num-classes?"));
  EXPECT_THAT(refusal("absent.pth"), HasSubstr("no such file"));
}

TEST_F(Checkpoint, OfAFileFitsItWithTiedUnreadAndConstantTensors) {
  python(
      "class Net(torch.nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.encoder = torch.nn.Linear(4, 4, bias=False)\n"
      "        self.decoder = torch.nn.Linear(4, 4, bias=False)\n"
      "        self.decoder.weight = self.encoder.weight\n"
      "        self.register_buffer('unread', torch.ones(1))\n"
      "    def forward(self, x):\n"
      "        y = self.decoder(torch.relu(self.encoder(x)))\n"
      "        return y.repeat(1, 25) + torch.arange(100)\n"
      "net = Net()\n"
      "torch.jit.trace(net, torch.ones(2, 4)).save(folder + '/net.pt')\n"
      "state = {name: tensor + 1 for name, tensor in net.state_dict().items()}\n"
      "torch.save(state, folder + '/fits.pth')\n"
      "torch.save({**state, 'extra': torch.ones(1)}, folder + '/extra.pth')\n"
      "state['decoder.weight'] = torch.zeros(4, 4)\n"
      "torch.save(state, folder + '/untied.pth')\n");
  const auto load = [&](const char* name) -> Expected<Flat> {
    PARETO_ASSIGN(Flat flat, read_model(path("net.pt")));
    PARETO_TRY(load_weights(flat, path(name)));
    return flat;
  };
  const auto fits = load("fits.pth");
  ASSERT_TRUE(fits) << fits.error().message;
  ASSERT_EQ(fits->weights.size(), 2U);
  EXPECT_THAT(fits->weights[0].name, HasSubstr("coder.weight")) << "by either name";
  EXPECT_EQ(fits->weights[1].name, "constants.0");
  EXPECT_EQ(fits->weights[1].tensor.size(0), 100) << "the file's own";
  EXPECT_THAT(load("extra.pth").error().message, HasSubstr("\"extra\""));
  EXPECT_THAT(load("untied.pth").error().message, HasSubstr("differ, and are one weight"));
}

TEST(SeededWeights, AreTheSameOnEveryMachine) {
  ModelOptions options;
  const auto models = builtin_models();
  const Flat flat = models.front()->build(options).value();
  const auto tensor = flat.weights.front().tensor.contiguous();
  const auto* data = static_cast<const std::byte*>(tensor.data_ptr());
  EXPECT_EQ(flat.weights.front().name, "features.0.0.weight");
  EXPECT_EQ(sha256(std::span(data, static_cast<std::size_t>(tensor.nbytes()))).hex(),
            "2953767f4551dfc6713b8f1a5b4d0eec2c354d375e3cb4285e64ada2c9cf6229");
  ModelOptions other;
  other.seed = 1;
  EXPECT_FALSE(models.front()->build(other)->weights.front().tensor.equal(tensor));
}

}  // namespace
}  // namespace pareto::model::zoo
