#include "partitioner/model/readers/file_kind.h"

#include <algorithm>
#include <array>

namespace pareto::model {
namespace {

constexpr FileKind kEmpty{"an empty file", "copy it again, or save it again"};
constexpr FileKind kCutOff{"a zip archive that is truncated or damaged",
                           "copy it again, or save it again"};
constexpr FileKind kOnnx{
    "an ONNX file",
    "save the PyTorch module that it was exported from with torch.jit.trace(module.eval(), "
    "example).save(\"model.pt\"), or make one of it with onnx2torch first"};
constexpr FileKind kExecutorch{
    "an ExecuTorch program, which holds no PyTorch operators any more",
    "save the PyTorch module that it was made from with torch.jit.trace(module.eval(), "
    "example).save(\"model.pt\")"};
constexpr FileKind kTflite{
    "a TensorFlow Lite file",
    "save a PyTorch module with torch.jit.trace(module.eval(), example).save(\"model.pt\")"};
constexpr FileKind kExported{
    "a program of torch.export",
    "save torch.jit.trace(torch.export.load(FILE).module(), example) in its place"};
constexpr FileKind kModule{
    "a whole module, pickled by torch.save, which needs its Python classes",
    "save TorchScript in that Python: m = torch.load(FILE); torch.jit.trace(m.eval(), "
    "example).save(\"model.pt\")"};
constexpr FileKind kWeights{
    "weights without a model (a state_dict or checkpoint)",
    "give them with a built-in model, --model NAME --weights FILE, or load them into their module "
    "and save that with torch.jit.trace(module.eval(), example).save(\"model.pt\")"};
constexpr FileKind kSafetensors{
    "weights without a model (safetensors)",
    "load them into their module and save that with torch.jit.trace(module.eval(), "
    "example).save(\"model.pt\"), or write them for a built-in model with "
    "torch.save(safetensors.torch.load_file(FILE), \"weights.pth\") and give --weights "
    "weights.pth"};

constexpr std::array<std::string_view, 7> kExtensions{".pth",         ".pt2",  ".pte",   ".onnx",
                                                      ".safetensors", ".ckpt", ".tflite"};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns the kind of a pickle. Pickles name the attributes of the objects in them.
const FileKind* kind_of_pickle(std::string_view bytes) {
  if (holds(bytes, "_modules") && holds(bytes, "_parameters")) return &kModule;
  return holds(bytes, "_rebuild_") || holds(bytes, "Storage") ? &kWeights : nullptr;
}

const FileKind* kind_of_zip(const FileEnds& ends) {
  if (!ends.has_zip_list()) return &kCutOff;
  if (ends.lists("serialized_exported_program") || ends.lists("archive_format")) return &kExported;
  return ends.lists("data.pkl") ? kind_of_pickle(ends.first) : nullptr;
}

}  // namespace

const FileKind* kind_of_unread(const FileEnds& ends, std::string_view extension) {
  const std::string_view first = ends.first;
  if (first.empty()) return &kEmpty;
  if (ends.is_zip()) return kind_of_zip(ends);
  if (first.size() >= 8 && first.substr(4, 2) == "ET") return &kExecutorch;
  if (first.size() >= 8 && first.substr(4, 4) == "TFL3") return &kTflite;
  if (first.starts_with('\x80')) return kind_of_pickle(first);
  if (first.size() > 8 && first[7] == '\0' && first[8] == '{') return &kSafetensors;
  if (extension == ".onnx") return &kOnnx;
  if (extension == ".pte") return &kExecutorch;
  return nullptr;
}

bool is_named_as_unread(std::string_view name) {
  return std::ranges::any_of(
      kExtensions, [name](std::string_view extension) { return name.ends_with(extension); });
}

}  // namespace pareto::model
