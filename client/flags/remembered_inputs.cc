#include "client/flags/remembered_inputs.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/json_integer.h"
#include "core/base/json_parse.h"
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

std::optional<RememberedInputs> inputs_from_text(const std::string& text) {
  try {
    const auto json = parse_json<nlohmann::json>(text);
    RememberedInputs inputs;
    inputs.input_shape = json.value("input_shape", "");
    inputs.inputs = json.value("inputs", inputs.inputs);
    if (json.contains("batch")) inputs.batch = json_integer_at<std::int64_t>(json, "batch");
    inputs.operators = json.value("operators", inputs.operators);
    return inputs;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string inputs_text(const RememberedInputs& inputs) {
  nlohmann::ordered_json json{{"input_shape", inputs.input_shape}, {"inputs", inputs.inputs}};
  if (inputs.batch) json["batch"] = *inputs.batch;
  if (!inputs.operators.empty()) json["operators"] = inputs.operators;
  return dump(json) + "\n";
}

std::filesystem::path InputMemory::file_of(const Digest& model) const {
  return folder_ / (model.hex() + ".json");
}

std::optional<RememberedInputs> InputMemory::recall(const Digest& model) const {
  const auto text = read_file(file_of(model), kMaxFileBytes);
  if (!text) return std::nullopt;
  return inputs_from_text(*text);
}

Expected<> InputMemory::remember(const Digest& model, const RememberedInputs& inputs) const {
  if (recall(model) == inputs) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  return write_file_atomically(file_of(model), inputs_text(inputs));
}

}  // namespace pareto::client
