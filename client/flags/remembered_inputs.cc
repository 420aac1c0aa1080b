#include "client/flags/remembered_inputs.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_text.h"

namespace pareto::client {
namespace {

constexpr std::uint64_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

Expected<Digest> digest_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(error_from_errno(errno, path.string()));
  Hasher hasher;
  std::string chunk(kChunk, '\0');
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    hasher.update(std::string_view(chunk).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  return hasher.finish();
}

std::filesystem::path InputMemory::file_of(const Digest& model) const {
  return folder_ / (model.hex() + ".json");
}

std::optional<RememberedInputs> InputMemory::recall(const Digest& model) const {
  const auto text = read_file(file_of(model), kMaxFileBytes);
  if (!text) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(*text);
    RememberedInputs inputs;
    inputs.input_shape = json.value("input_shape", "");
    inputs.inputs = json.value("inputs", inputs.inputs);
    if (json.contains("batch")) inputs.batch = json.at("batch").get<std::int64_t>();
    inputs.operators = json.value("operators", inputs.operators);
    return inputs;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

Expected<> InputMemory::remember(const Digest& model, const RememberedInputs& inputs) const {
  if (recall(model) == inputs) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  nlohmann::ordered_json json{{"input_shape", inputs.input_shape}, {"inputs", inputs.inputs}};
  if (inputs.batch) json["batch"] = *inputs.batch;
  if (!inputs.operators.empty()) json["operators"] = inputs.operators;
  return write_file_atomically(file_of(model), dump(json) + "\n");
}

}  // namespace pareto::client
