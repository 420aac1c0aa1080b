#include "partitioner/model/readers/model_reader.h"

#include <algorithm>

#include "core/base/text.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/readers/file_kind.h"

namespace pareto::model {
namespace {

std::string ways_to_make(const ModelReaders& readers) {
  std::vector<std::string> ways;
  for (const ModelReader* const reader : readers) ways.emplace_back(reader->how_to_make());
  return join(ways, ", or ");
}

/// Returns what a file that no reader recognises looks like, what is read, and what to do.
std::string explain_unread(const FileEnds& ends, const std::filesystem::path& path,
                           const ModelReaders& readers) {
  const FileKind* const kind = kind_of_unread(ends, path.extension().string());
  if (kind == nullptr) {
    return fmt::format("not a {} file ({})", format_names(readers), ways_to_make(readers));
  }
  return fmt::format("{}, and only {} is read: {}", kind->name, format_names(readers),
                     kind->remedy);
}

}  // namespace

std::string format_names(const ModelReaders& readers) {
  std::vector<std::string> names;
  for (const ModelReader* const reader : readers) names.emplace_back(reader->name());
  return join(names, " or ");
}

bool has_model_extension(std::string_view name, const ModelReaders& readers) {
  return is_named_as_unread(name) ||
         std::ranges::any_of(readers, [name](const ModelReader* reader) {
           return std::ranges::any_of(reader->extensions(), [name](std::string_view extension) {
             return name.ends_with(extension);
           });
         });
}

Expected<Flat> read_model(const std::filesystem::path& path, const ModelReaders& readers) {
  PARETO_ASSIGN(const FileEnds ends, read_ends(path));
  const auto reader = std::ranges::find_if(
      readers, [&ends](const ModelReader* candidate) { return candidate->recognises(ends); });
  if (reader == readers.end()) {
    return fail(ErrorCode::kCorrupt, "{}: {}", path.string(), explain_unread(ends, path, readers));
  }
  PARETO_ASSIGN(Flat flat, with_context((*reader)->read(path), "{}", path.string()));
  flat.model = path.stem().string();
  flat.from_file = true;
  return flat;
}

}  // namespace pareto::model
