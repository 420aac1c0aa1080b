// TorchScript archives whose code a test wrote itself. Sees LibTorch.
#pragma once

#include <caffe2/serialize/inline_container.h>

#include <functional>
#include <sstream>
#include <string>
#include <tuple>

namespace pareto::test {

/// Returns the archive with each of its files whose name ends so replaced by what `rewrite` makes
/// of it.
inline std::string rewritten_archive(const std::string& archive,
                                     const std::function<std::string(std::string)>& rewrite,
                                     const std::string& ending = ".py") {
  std::istringstream in(archive);
  caffe2::serialize::PyTorchStreamReader reader(&in);
  std::string result;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* bytes, std::size_t size) {
    result.append(static_cast<const char*>(bytes), size);
    return size;
  });
  for (const std::string& name : reader.getAllRecords()) {
    // The writer adds these itself.
    if (name == "version" || name.find("serialization_id") != std::string::npos) continue;
    const auto [bytes, size] = reader.getRecord(name);
    std::string content(static_cast<const char*>(bytes.get()), size);
    if (name.ends_with(ending)) content = rewrite(std::move(content));
    writer.writeRecord(name, content.data(), content.size());
  }
  writer.writeEndOfFile();
  return result;
}

}  // namespace pareto::test
