#include "partitioner/model/readers/torchscript_reader.h"

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/mapped_file.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/flatten.h"
#include "runtime/archive/archive_check.h"
#include "runtime/archive/memory_reader.h"
#include "runtime/torch/map_devices.h"
#include "runtime/torch/tensor_bounds.h"

namespace pareto::model {
namespace {

constexpr const char* kLostValue = "required keyword attribute 'value' is undefined";
constexpr const char* kSavedTooLate =
    "it was saved after torch.jit.optimize_for_inference, whose operators lose their weights in a "
    "file; save it before that (torch.jit.freeze is fine): each device optimises what it runs by "
    "itself";

/// Returns the library that an operator or class of an unknown name is of; empty if it is
/// LibTorch's.
std::string library_of(const std::string& what) {
  // "Unknown builtin op: torchvision::nms." and "Unknown type name
  // '__torch__.torch.classes.tensorrt.Engine'"
  constexpr std::string_view kClasses = "torch.classes.";
  std::string name;
  if (const auto at = what.find(kClasses); at != std::string::npos) {
    name = what.substr(at + kClasses.size());
    name = name.substr(0, name.find('.'));
  } else if (const auto colons = what.find("::"); colons != std::string::npos) {
    const auto start = what.find_last_of(" '\"", colons);
    name = what.substr(start + 1, colons - start - 1);
  }
  const bool is_own =
      name == "aten" || name == "prim" || name == "quantized" || name == "prepacked";
  return is_own ? "" : name;
}

Error explain_unknown(const std::string& what) {
  const std::string library = library_of(what);
  if (library.empty()) {
    return {ErrorCode::kCorrupt,
            fmt::format("it needs operators that LibTorch {} does not have ({}); save it with an "
                        "older version, or build against a newer LibTorch",
                        runtime::torch_version(), what)};
  }
  return {ErrorCode::kCorrupt,
          fmt::format("it needs the library {} next to LibTorch ({}): give the shared library that "
                      "defines its operators (--operators LIB.so, on devices `operators:` in "
                      "paretod.yaml), or save the model without them",
                      library, what)};
}

/// Explains what LibTorch's own message does not say plainly.
Error explain(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string whole =
      c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  const std::string line = runtime::first_line(error);
  const auto says = [&](std::string_view part) { return whole.find(part) != std::string::npos; };
  if (says("Unknown builtin op") || says("Unknown type name") || says("nknown operator")) {
    const auto at = whole.find("Unknown");
    const std::string what =
        at == std::string::npos ? line : whole.substr(at, whole.find('\n', at) - at);
    return explain_unknown(what);
  }
  if (says(kLostValue)) return {ErrorCode::kCorrupt, kSavedTooLate};
  if (says("zip archive") || says("central directory") || says("reading file") ||
      says("PytorchStreamReader")) {
    return {ErrorCode::kCorrupt, fmt::format("damaged or truncated ({})", line)};
  }
  return {ErrorCode::kCorrupt, line};
}

}  // namespace

Expected<Flat> flatten_module(torch::jit::Module module) {
  try {
    Flat flat;
    flat.graph = module.get_method("forward").graph()->copy();
    flat.model_inputs = flat.graph->inputs().size() - 1;
    inline_calls(*flat.graph);
    use_numbers(*flat.graph);
    PARETO_ASSIGN(flat.weights, lift_attributes(flat.graph, module));
    simplify(flat.graph);
    PARETO_TRY(check_no_objects(*flat.graph));
    lift_constants(*flat.graph, flat.weights);
    drop_unused_weights(*flat.graph, flat.weights);
    for (const auto& [path, part] : module.named_modules()) {
      if (part.type()->name()->name().find("Dropout") != std::string::npos) {
        flat.dropouts.insert(path);
      }
    }
    flat.original = std::move(module);
    return flat;
  } catch (const std::exception& error) {
    const std::string line = runtime::first_line(error);
    if (line.find(kLostValue) != std::string::npos) {
      return fail(ErrorCode::kCorrupt, "{}", kSavedTooLate);
    }
    return fail(ErrorCode::kInvalidArgument, "{}", line);
  }
}

namespace {

class TorchScriptReader final : public ModelReader {
 public:
  std::string_view name() const override { return "TorchScript"; }
  std::string_view how_to_make() const override {
    return "save a module with torch.jit.script or torch.jit.trace";
  }
  std::vector<std::string_view> extensions() const override {
    return {".pt", ".ptl", ".jit", ".torchscript", ".ts"};
  }
  bool recognises(const FileEnds& ends) const override {
    return ends.is_zip() && ends.has_zip_list() &&
           (ends.lists("constants.pkl") || ends.lists("/code/"));
  }
  Expected<Flat> read(const std::filesystem::path& path) const override {
    PARETO_ASSIGN(auto module, load_torchscript(path));
    return flatten_module(std::move(module));
  }
};

}  // namespace

const ModelReader* torchscript_reader() {
  static const TorchScriptReader kReader;
  return &kReader;
}

Expected<torch::jit::Module> load_torchscript(const std::filesystem::path& path) {
  try {
    PARETO_ASSIGN(const MappedFile archive, MappedFile::open(path));
    PARETO_TRY(runtime::check_archive(archive.text()));
    const std::span<std::byte> bytes = archive.bytes();
    // Only the pages of its list are copied. One that LibTorch alone can read stays as it is.
    static_cast<void>(
        runtime::hide_debug_records({reinterpret_cast<char*>(bytes.data()), bytes.size()}));
    torch::jit::Module module =
        torch::jit::load(std::make_shared<runtime::MemoryReader>(archive.text()), torch::kCPU);
    PARETO_TRY(runtime::check_tensor_bounds(module));
    module.eval();
    runtime::map_devices(module, torch::kCPU);
    return module;
  } catch (const std::exception& error) {
    return tl::unexpected(explain(error));
  }
}

}  // namespace pareto::model
