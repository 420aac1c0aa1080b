#include "coordinator/data/cifar10.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/data/check_input.h"
#include "core/base/file.h"
#include "core/base/random_access_file.h"
#include "core/base/text.h"

namespace pareto::data {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 32;
constexpr std::size_t kPlaneBytes = std::size_t{kSide} * kSide;
/// A label, and then a red, a green and a blue plane.
constexpr std::size_t kRecordBytes = 1 + 3 * kPlaneBytes;
constexpr std::int64_t kClasses = 10;

struct RecordFile {
  RandomAccessFile file;
  std::int64_t first = 0;  ///< number of its first sample
  std::int64_t records = 0;
};

class Cifar10 final : public DataSet {
 public:
  Cifar10(std::string title, std::vector<std::string> names, std::vector<RecordFile> files,
          Preprocessing preprocessing)
      : title_(std::move(title)),
        names_(std::move(names)),
        files_(std::move(files)),
        preprocessing_(std::move(preprocessing)) {}

  std::string title() const override { return title_; }
  std::int64_t size() const override { return files_.back().first + files_.back().records; }
  std::int64_t classes() const override { return kClasses; }
  const std::vector<std::string>& class_names() const override { return names_; }

  Expected<Sample> sample(std::int64_t index) const override {
    if (index < 0 || index >= size()) {
      return fail(ErrorCode::kInvalidArgument, "{}: no sample {} of {}", title_, index, size());
    }
    auto file = files_.begin();
    while (index >= file->first + file->records) ++file;
    std::array<std::byte, kRecordBytes> record;
    PARETO_TRY(
        file->file.read(static_cast<std::uint64_t>(index - file->first) * kRecordBytes, record));
    const auto label = std::to_integer<std::int64_t>(record[0]);
    if (label >= kClasses) {
      return fail(ErrorCode::kInvalidArgument, "{}: record {} has the label {}, of {} classes",
                  file->file.path().string(), index - file->first, label, kClasses);
    }
    Picture picture{{kSide, kSide}, 3, std::vector<std::uint8_t>(3 * kPlaneBytes)};
    for (std::size_t i = 0; i < kPlaneBytes; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        picture.bytes[3 * i + c] = std::to_integer<std::uint8_t>(record[1 + c * kPlaneBytes + i]);
      }
    }
    PARETO_ASSIGN(Tensor input, preprocess(std::move(picture), preprocessing_));
    return Sample{std::move(input), label};
  }

 private:
  const std::string title_;
  const std::vector<std::string> names_;
  const std::vector<RecordFile> files_;
  const Preprocessing preprocessing_;
};

std::vector<std::string> files_of(Part part) {
  if (part == Part::kTest) return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  return names;
}

/// Checks every label, because an epoch should not end at the last but one.
Expected<> check_labels(const RecordFile& records) {
  for (std::int64_t i = 0; i < records.records; ++i) {
    std::byte label{};
    PARETO_TRY(records.file.read(static_cast<std::uint64_t>(i) * kRecordBytes, {&label, 1}));
    if (std::to_integer<std::int64_t>(label) < kClasses) continue;
    return fail(ErrorCode::kInvalidArgument, "{}: record {} has the label {}, of {} classes",
                records.file.path().string(), i, std::to_integer<int>(label), kClasses);
  }
  return {};
}

Expected<RecordFile> open_records(const fs::path& path, std::int64_t first) {
  PARETO_ASSIGN(RandomAccessFile file, RandomAccessFile::open(path));
  if (file.size_bytes() == 0 || file.size_bytes() % kRecordBytes != 0) {
    return fail(ErrorCode::kCorrupt,
                "{}: has {} bytes, which are no whole records of {}: it is not CIFAR-10's binary "
                "format, or truncated",
                path.string(), file.size_bytes(), kRecordBytes);
  }
  const auto records = static_cast<std::int64_t>(file.size_bytes() / kRecordBytes);
  RecordFile opened{std::move(file), first, records};
  PARETO_TRY(check_labels(opened));
  return opened;
}

/// Returns the lines of the file of names; none if it is not there or has another number of them.
std::vector<std::string> read_names(const fs::path& folder) {
  constexpr std::uint64_t kMostBytes = 4096;
  const auto text = read_file(folder / "batches.meta.txt", kMostBytes);
  std::vector<std::string> names = text ? split_list(*text, '\n') : std::vector<std::string>();
  if (names.size() != kClasses) names.clear();
  return names;
}

}  // namespace

Expected<std::unique_ptr<DataSet>> open_cifar10(const std::string& folder,
                                                const DataSetOptions& options) {
  if (folder.empty()) {
    return fail(ErrorCode::kInvalidArgument, "cifar10: names no folder, as in cifar10:DIR");
  }
  std::vector<RecordFile> files;
  for (const std::string& name : files_of(options.part)) {
    const std::int64_t first = files.empty() ? 0 : files.back().first + files.back().records;
    PARETO_ASSIGN(RecordFile file, open_records(fs::path(folder) / name, first));
    files.push_back(std::move(file));
  }
  const std::string title = fmt::format("cifar10:{} ({})", folder, to_string(options.part));
  if (options.classes > 0 && options.classes < kClasses) {
    return fail(ErrorCode::kInvalidArgument, "{}: has {} classes, and the model tells {} apart",
                title, kClasses, options.classes);
  }
  PARETO_ASSIGN(
      Preprocessing preprocessing,
      with_context(settle_preprocessing(options, cifar10_preprocessing, PictureSize{kSide, kSide}),
                   "{}", title));
  return std::make_unique<Cifar10>(title, read_names(folder), std::move(files),
                                   std::move(preprocessing));
}

}  // namespace pareto::data
