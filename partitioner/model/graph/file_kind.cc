#include "partitioner/model/graph/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace pareto::model {
namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 20;

constexpr std::string_view kPlain =
    "not a TorchScript archive (save a module with torch.jit.script or torch.jit.trace)";
constexpr std::string_view kOnnx =
    "an ONNX file, and only TorchScript is read: save the PyTorch module that it was exported from "
    "with torch.jit.trace(module.eval(), example).save(\"model.pt\"), or make one of it with "
    "onnx2torch first";
constexpr std::string_view kExecutorch =
    "an ExecuTorch program, which holds no PyTorch operators any more: save the PyTorch module "
    "that "
    "it was made from with torch.jit.trace(module.eval(), example).save(\"model.pt\")";
constexpr std::string_view kTflite =
    "a TensorFlow Lite file, and only TorchScript is read: save a PyTorch module with "
    "torch.jit.trace(module.eval(), example).save(\"model.pt\")";
constexpr std::string_view kExported =
    "a program of torch.export, and only TorchScript is read: save "
    "torch.jit.trace(torch.export.load(FILE).module(), example) in its place";
constexpr std::string_view kModule =
    "a whole module, pickled by torch.save: it needs its Python classes. Save TorchScript in that "
    "Python: m = torch.load(FILE); torch.jit.trace(m.eval(), example).save(\"model.pt\")";
constexpr std::string_view kWeights =
    "weights without a model (a state_dict or checkpoint): give them beside a built-in model, "
    "--model NAME --weights FILE, or load them into their module and save that with "
    "torch.jit.trace(module.eval(), example).save(\"model.pt\")";

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The first and the last MiB of a file, as far as it is so long.
struct Ends {
  std::string first;
  std::string last;
};

Ends read_ends(const std::filesystem::path& path) {
  Ends ends;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto read = [&](std::uint64_t from) {
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size - from, kLookedAt)),
                      '\0');
    file.seekg(static_cast<std::streamoff>(from));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  };
  ends.first = read(0);
  ends.last = read(size - std::min<std::uint64_t>(size, kLookedAt));
  return ends;
}

/// Pickles name the attributes of the objects in them.
std::string_view kind_of_pickle(std::string_view bytes) {
  if (holds(bytes, "_modules") && holds(bytes, "_parameters")) return kModule;
  return holds(bytes, "_rebuild_") || holds(bytes, "Storage") ? kWeights : kPlain;
}

/// Returns none if it may be TorchScript, or is cut off: an archive's list of files stands at its
/// end.
std::optional<std::string_view> kind_of_zip(const Ends& ends) {
  if (!holds(ends.last, "PK\x05\x06")) return std::nullopt;
  if (holds(ends.last, "constants.pkl") || holds(ends.last, "/code/")) return std::nullopt;
  if (holds(ends.last, "serialized_exported_program") || holds(ends.last, "archive_format")) {
    return kExported;
  }
  if (!holds(ends.last, "data.pkl")) return std::nullopt;
  return kind_of_pickle(ends.first);
}

std::optional<std::string_view> kind_of(const Ends& ends, const std::string& extension) {
  const std::string_view first = ends.first;
  if (first.starts_with("PK\x03\x04")) return kind_of_zip(ends);
  if (first.size() >= 8 && first.substr(4, 2) == "ET") return kExecutorch;
  if (first.size() >= 8 && first.substr(4, 4) == "TFL3") return kTflite;
  if (first.starts_with('\x80')) return kind_of_pickle(first);
  if (first.size() > 8 && first[7] == '\0' && first[8] == '{') return kWeights;
  if (extension == ".onnx") return kOnnx;
  if (extension == ".pte") return kExecutorch;
  return kPlain;
}

}  // namespace

std::optional<std::string> remedy_for_other_file(const std::filesystem::path& path) {
  const auto kind = kind_of(read_ends(path), path.extension().string());
  if (!kind) return std::nullopt;
  return std::string(*kind);
}

}  // namespace pareto::model
