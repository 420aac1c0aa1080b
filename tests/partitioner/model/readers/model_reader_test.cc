// One suite over every reader, and what is said of a file that none of them reads.
#include "partitioner/model/readers/model_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <map>
#include <random>
#include <set>

#include "runtime/torch/convert.h"
#include "tests/partitioner/model/readers/format_bytes.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::ends_of;
using test::Files;
using test::zip_of;
using testing::AllOf;
using testing::HasSubstr;

/// Returns a module that doubles its input.
torch::jit::Module doubled() {
  return test::scripted("Doubled", "def forward(self, x):\n    return x * 2\n");
}

/// Returns the bytes of one whole file of each format, by the reader's name.
std::map<std::string, std::string> samples() {
  const Files files;
  return {{"TorchScript", read_file(files.save(doubled(), "doubled")).value()}};
}

/// Returns files of kinds that no reader reads, by their names.
std::map<std::string, std::string> others() {
  using namespace std::string_literals;
  return {{"empty.pt", ""},
          {"text.pt", "this is no model\n"},
          {"other.zip", zip_of("something else")},
          {"state.pth", zip_of("archive/data.pkl _rebuild_tensor_v2 FloatStorage")},
          {"module.pth", zip_of("archive/data.pkl _modules _parameters")},
          {"program.pt2", zip_of("model/archive_format")},
          {"old.pth", "\x80\x02}_rebuild_tensor"},
          {"model.onnx", "\x08\x07\x12\x07pytorch"},
          {"model.pte", "\x18\0\0\0ET12rest"s},
          {"model.tflite", "\x18\0\0\0TFL3rest"s},
          {"model.safetensors", "\x40\0\0\0\0\0\0\0{\"w\":"s},
          {"code.pt", "/code/ constants.pkl PK\x05\x06"}};
}

Error refusal(const std::filesystem::path& path, const ModelReaders& readers = builtin_readers()) {
  const auto flat = read_model(path, readers);
  EXPECT_FALSE(flat) << path;
  return flat ? Error{} : flat.error();
}

TEST(ModelReaders, SayWhoTheyAre) {
  std::set<std::string_view> names;
  for (const ModelReader* reader : builtin_readers()) {
    EXPECT_FALSE(reader->name().empty());
    EXPECT_TRUE(names.insert(reader->name()).second) << reader->name();
    EXPECT_FALSE(reader->how_to_make().empty()) << reader->name();
    EXPECT_FALSE(reader->extensions().empty()) << reader->name();
    for (const std::string_view extension : reader->extensions()) {
      EXPECT_TRUE(extension.starts_with('.')) << extension;
      EXPECT_TRUE(has_model_extension("net" + std::string(extension)));
    }
  }
  EXPECT_FALSE(has_model_extension("net"));
}

TEST(ModelReaders, EachTakesItsOwnFilesAndNoOthers) {
  const auto all = samples();
  for (const ModelReader* reader : builtin_readers()) {
    EXPECT_TRUE(all.contains(std::string(reader->name()))) << "no sample: " << reader->name();
    for (const auto& [format, bytes] : all) {
      EXPECT_EQ(reader->recognises(ends_of(bytes)), reader->name() == format)
          << reader->name() << " of " << format;
    }
    for (const auto& [name, bytes] : others()) {
      EXPECT_FALSE(reader->recognises(ends_of(bytes))) << reader->name() << " of " << name;
    }
  }
}

TEST(ModelReaders, ReadTheirFilesWhateverTheNameIs) {
  const Files files;
  for (const auto& [format, bytes] : samples()) {
    const auto path = files.path("a." + format + ".onnx");
    ASSERT_TRUE(write_file_atomically(path, bytes));
    const auto flat = read_model(path);
    ASSERT_TRUE(flat) << flat.error().message;
    EXPECT_EQ(flat->model, "a." + format);
    EXPECT_TRUE(flat->from_file);
    EXPECT_EQ(flat->graph->inputs().size(), flat->model_inputs + flat->weights.size());
  }
}

TEST(ModelReaders, RefuseAFileThatIsCutOffAnywhere) {
  const Files files;
  const auto path = files.path("cut.pt");
  for (const auto& [format, bytes] : samples()) {
    std::vector<std::size_t> sizes{bytes.size() - 30, bytes.size() - 1};
    for (std::size_t i = 0; i < 40; ++i) sizes.push_back(bytes.size() * i / 40);
    for (const std::size_t size : sizes) {
      ASSERT_TRUE(write_file_atomically(path, bytes.substr(0, size)));
      const Error error = refusal(path);
      EXPECT_EQ(error.code, ErrorCode::kCorrupt) << format << " cut at " << size;
      EXPECT_THAT(error.message, HasSubstr(path.string() + ": "));
    }
  }
}

TEST(ModelReaders, LookAtAnyBytes) {
  std::mt19937_64 random(1);
  for (const auto& [format, bytes] : samples()) {
    for (int i = 0; i < 300; ++i) {
      std::string changed = bytes.substr(random() % bytes.size());
      changed[random() % changed.size()] = static_cast<char>(random());
      for (const ModelReader* reader : builtin_readers()) {
        const bool taken = reader->recognises(ends_of(changed));
        EXPECT_TRUE(!taken || changed.starts_with(bytes.substr(0, 4))) << reader->name();
      }
    }
  }
}

TEST(ReadModel, NoSuchFile) {
  const Error error = refusal("/nowhere/model.pt");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("/nowhere/model.pt: no such file"));
}

TEST(ReadModel, AFolderIsNoFile) {
  const Files files;
  const Error error = refusal(files.path(""));
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("not a file"));
}

TEST(ReadModel, AnUnknownFileIsToldWhatIsRead) {
  const Files files;
  ASSERT_TRUE(write_file_atomically(files.path("text.pt"), "this is no model\n"));
  const Error error = refusal(files.path("text.pt"));
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_EQ(error.message, files.path("text.pt").string() +
                               ": not a TorchScript file (save a module with torch.jit.script or "
                               "torch.jit.trace)");
}

TEST(ReadModel, AKnownFileHasARemedyOfItsOwn) {
  const Files files;
  const auto pickled = [&](const std::string& name, const std::string& pickle) {
    caffe2::serialize::PyTorchStreamWriter writer(files.path(name).string());
    writer.writeRecord("data.pkl", pickle.data(), pickle.size());
    writer.writeEndOfFile();
  };
  const auto written = [&](const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(write_file_atomically(files.path(name), bytes));
  };
  pickled("weights.pt", "\x80\x02}q\x01(X\x06weight ctorch._utils\n_rebuild_tensor_v2\n.");
  pickled("module.pt",
          "\x80\x02"
          "c__main__\nNet\n X\x0b_parameters X\x08_modules.");
  written("old.pth", "\x80\x02}q\x01 ctorch\nFloatStorage\n.");
  written("model.onnx", "\x08\x07\x12\x07pytorch\x1a\x05");
  written("model.pte", std::string("\x1c\0\0\0ET12", 8));
  written("model.safetensors", std::string("\x40\0\0\0\0\0\0\0{\"a\":{}}", 16));
  const std::vector<std::pair<std::string, std::string>> remedies{
      {"weights.pt", "--weights FILE"},       {"module.pt", "torch.load(FILE)"},
      {"old.pth", "--weights FILE"},          {"model.onnx", "an ONNX file"},
      {"model.pte", "an ExecuTorch program"}, {"model.safetensors", "--weights weights.pth"}};
  for (const auto& [name, remedy] : remedies) {
    const Error error = refusal(files.path(name));
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << name;
    EXPECT_THAT(error.message,
                AllOf(HasSubstr(files.path(name).string() + ": "), HasSubstr(remedy),
                      HasSubstr("and only TorchScript is read: "), HasSubstr("torch.jit.trace")));
  }
}

/// Reads files such as "times 3": a model that multiplies its input by a weight.
class TimesReader final : public ModelReader {
 public:
  std::string_view name() const override { return "Times"; }
  std::string_view how_to_make() const override { return "write down a factor"; }
  std::vector<std::string_view> extensions() const override { return {".times"}; }
  bool recognises(const FileEnds& ends) const override { return ends.first.starts_with("times "); }
  Expected<Flat> read(const std::filesystem::path& path) const override {
    PARETO_ASSIGN(const std::string text, read_file(path));
    const double factor = std::atof(text.substr(6).c_str());
    if (factor == 0) return fail(ErrorCode::kInvalidArgument, "no factor");
    Flat flat;
    flat.graph = std::make_shared<torch::jit::Graph>();
    torch::jit::parseIR(
        "graph(%x : Tensor, %w : Tensor):\n"
        "  %y : Tensor = aten::mul(%x, %w)\n"
        "  return (%y)\n",
        flat.graph.get());
    flat.model_inputs = 1;
    flat.weights.push_back({"factor", torch::full({4}, factor)});
    return flat;
  }
};

class AnotherFormat : public testing::Test {
 protected:
  AnotherFormat() { readers_.push_back(&times_); }
  std::filesystem::path written(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(files_.path(name), bytes));
    return files_.path(name);
  }

  const Files files_;
  const TimesReader times_;
  ModelReaders readers_ = builtin_readers();
};

TEST_F(AnotherFormat, IsOneReaderAndOneRow) {
  auto flat = read_model(written("three.times", "times 3"), readers_);
  ASSERT_TRUE(flat) << flat.error().message;
  const auto model = Model::examine(*std::move(flat), {{{4}, DType::kFloat32}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name(), "three");
  EXPECT_EQ(model->graph().operators.size(), 1U);
  EXPECT_EQ(model->weight_digests().size(), 1U);
  const auto inputs = model->example_inputs(2, 1).value();
  const auto outputs = model->run_whole(inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  const auto tensor = [](const Value& value) { return runtime::to_torch(*value.get_if<Tensor>()); };
  EXPECT_TRUE(torch::equal(tensor(outputs->at(0)), tensor(inputs.at(0)) * 3));
}

TEST_F(AnotherFormat, LeavesTheOthersAsTheyAre) {
  const auto flat = read_model(files_.save(doubled(), "doubled"), readers_);
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_TRUE(flat->original) << "read as TorchScript";
}

TEST_F(AnotherFormat, IsNamedWhereFormatsAre) {
  EXPECT_EQ(format_names(readers_), "TorchScript or Times");
  EXPECT_TRUE(has_model_extension("net.times", readers_));
  EXPECT_FALSE(has_model_extension("net.times"));
  EXPECT_THAT(refusal(written("text", "hello"), readers_).message,
              AllOf(HasSubstr("not a TorchScript or Times file ("),
                    HasSubstr("torch.jit.trace, or write down a factor)")));
  EXPECT_THAT(refusal(written("net.onnx", "hello"), readers_).message,
              HasSubstr("an ONNX file, and only TorchScript or Times is read: "));
}

TEST_F(AnotherFormat, ItsErrorsNameTheFile) {
  const auto path = written("odd.times", "times and again");
  const Error error = refusal(path, readers_);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message, path.string() + ": no factor");
  EXPECT_EQ(refusal(path).code, ErrorCode::kCorrupt) << "no reader of that name";
}

}  // namespace
}  // namespace pareto::model
