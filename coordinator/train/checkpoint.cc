#include "coordinator/train/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>
#include <utility>

#include "coordinator/train/checkpoint_manifest.h"
#include "core/base/file_descriptor.h"
#include "core/base/folder.h"

namespace pareto::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kTensors = "tensors.bin";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kHalfWritten = ".writing-";  ///< before a checkpoint's name
constexpr std::string_view kReplaced = ".replaced-";
constexpr std::uint64_t kMostManifestBytes = std::uint64_t{256} << 20;

/// Returns the step of a checkpoint's name; no value for another name.
std::optional<std::int64_t> step_of(const std::string& name) {
  std::int64_t step = -1;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [at, status] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (status != std::errc() || at != end || step < 0) return std::nullopt;
  return step;
}

/// Returns the checkpoints of a folder, the newest one first.
std::vector<fs::path> checkpoints_in(const fs::path& folder) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto step = step_of(entry.path().filename().string());
    if (step && entry.is_directory(ignored)) found.emplace_back(*step, entry.path());
  }
  std::ranges::sort(found, std::ranges::greater{}, &std::pair<std::int64_t, fs::path>::first);
  std::vector<fs::path> paths;
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// A new file that is written from its beginning to its end.
class NewFileWriter {
 public:
  static Expected<NewFileWriter> create(const fs::path& path) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file) return tl::unexpected(error_from_errno(errno, path.filename().string()));
    return NewFileWriter(path, std::move(file));
  }

  Expected<> write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("writing");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }

  /// Waits until the disk has it.
  Expected<> finish() {
    if (::fsync(file_.get()) != 0) return failed("flushing");
    // Network file systems say only now that they are full.
    if (::close(file_.release()) != 0) return failed("closing");
    return {};
  }

 private:
  NewFileWriter(fs::path path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  tl::unexpected<Error> failed(const char* doing) const {
    return tl::unexpected(
        error_from_errno(errno, fmt::format("{} {}", doing, path_.filename().string())));
  }

  fs::path path_;
  FileDescriptor file_;
};

Expected<> write_files(const fs::path& folder, const Checkpoint& checkpoint) {
  CheckpointManifest manifest{checkpoint.setup, checkpoint.progress, {}};
  PARETO_ASSIGN(NewFileWriter tensors, NewFileWriter::create(folder / kTensors));
  for (const plan::StateTensor& one : checkpoint.state) {
    PARETO_ASSIGN(const Tensor dense, row_major(one.tensor));
    manifest.tensors.push_back(
        {one.name, dense.dtype(), dense.shape(), dense.size_bytes(), sha256(dense.bytes())});
    PARETO_TRY(tensors.write(dense.bytes()));
  }
  PARETO_TRY(tensors.finish());
  PARETO_ASSIGN(NewFileWriter text, NewFileWriter::create(folder / kManifest));
  const std::string written = manifest_text(manifest);
  PARETO_TRY(text.write(std::as_bytes(std::span(written))));
  PARETO_TRY(text.finish());
  return flush_folder(folder);
}

Expected<> rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return {};
  return tl::unexpected(error_from_errno(error.value(), "renaming to " + to.string()));
}

/// Puts a folder in the place of another one, which may not be there. At every moment one of them
/// is in the place, unless the file system cannot exchange two names.
Expected<> put_in_place(const fs::path& from, const fs::path& target) {
  std::error_code ignored;
  if (fs::exists(target, ignored)) {
    PARETO_ASSIGN(const bool exchanged, exchange_folders(from, target));
    if (exchanged) {
      PARETO_TRY(flush_folder(target.parent_path()));
      fs::remove_all(from, ignored);
      return {};
    }
  }
  const fs::path aside =
      target.parent_path() / (std::string(kReplaced) + target.filename().string());
  fs::remove_all(aside, ignored);
  const bool replaces = fs::exists(target, ignored);
  if (replaces) PARETO_TRY(rename_folder(target, aside));
  if (auto renamed = rename_folder(from, target); !renamed) {
    if (replaces) fs::rename(aside, target, ignored);
    return renamed;
  }
  PARETO_TRY(flush_folder(target.parent_path()));
  if (replaces) fs::remove_all(aside, ignored);
  return {};
}

/// Says in an error of a full disk what helps.
template <typename T>
Expected<T> with_remedy(Expected<T> result) {
  if (!result && result.error().code == ErrorCode::kExhausted) {
    result.error().message += ": free some space there, or name another folder (--checkpoint)";
  }
  return result;
}

/// Removes what a process that was killed left half written. A checkpoint that was put aside, and
/// whose successor did not come, gets its place again.
void tidy(const fs::path& folder) {
  std::vector<fs::path> left_over;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kHalfWritten) || name.starts_with(kReplaced)) {
      left_over.push_back(entry.path());
    }
  }
  for (const fs::path& path : left_over) {
    const std::string name = path.filename().string();
    const bool aside = name.starts_with(kReplaced);
    const fs::path place = folder / name.substr(aside ? kReplaced.size() : 0);
    if (aside && !fs::exists(place, ignored) && rename_folder(path, place)) continue;
    fs::remove_all(path, ignored);
  }
}

/// A file that is read piece by piece.
class TensorFileReader {
 public:
  static Expected<TensorFileReader> open(const fs::path& path, std::uint64_t expected_bytes) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return tl::unexpected(error_from_errno(errno, kTensors));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
      return tl::unexpected(error_from_errno(errno, kTensors));
    }
    if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kCorrupt, "{}: it is no file", kTensors);
    if (static_cast<std::uint64_t>(status.st_size) != expected_bytes) {
      return fail(ErrorCode::kCorrupt, "{} has {} bytes, and its tensors have {}", kTensors,
                  status.st_size, expected_bytes);
    }
    return TensorFileReader(std::move(file));
  }

  Expected<> read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::read(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return tl::unexpected(error_from_errno(errno, kTensors));
      if (count == 0) return fail(ErrorCode::kCorrupt, "{} ends too early", kTensors);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

 private:
  explicit TensorFileReader(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

Expected<Checkpoint> read_folder(const fs::path& path) {
  PARETO_ASSIGN(const std::string text, read_file(path / kManifest, kMostManifestBytes));
  PARETO_ASSIGN(CheckpointManifest manifest,
                with_context(manifest_from_text(text), "{}", kManifest));
  std::uint64_t all_bytes = 0;
  for (const TensorEntry& entry : manifest.tensors) {
    if (__builtin_add_overflow(all_bytes, entry.size_bytes, &all_bytes)) {
      return fail(ErrorCode::kCorrupt, "{}: the sizes of its tensors are impossible", kManifest);
    }
  }
  PARETO_ASSIGN(TensorFileReader file, TensorFileReader::open(path / kTensors, all_bytes));
  Checkpoint checkpoint{std::move(manifest.setup), std::move(manifest.progress), {}};
  for (TensorEntry& entry : manifest.tensors) {
    PARETO_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape));
    PARETO_TRY(file.read(tensor.mutable_bytes()));
    if (sha256(tensor.bytes()) != entry.digest) {
      return fail(ErrorCode::kCorrupt, "{}: the bytes of \"{}\" are not those that were written",
                  kTensors, entry.name);
    }
    checkpoint.state.push_back({std::move(entry.name), std::move(tensor)});
  }
  return checkpoint;
}

}  // namespace

Expected<Checkpoint> read_checkpoint(const fs::path& path) {
  return with_context(read_folder(path), "checkpoint {}", path.string());
}

Expected<FoundCheckpoint> newest_checkpoint(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path / kManifest, ignored)) {
    PARETO_ASSIGN(Checkpoint checkpoint, read_checkpoint(path));
    return FoundCheckpoint{path, std::move(checkpoint), {}};
  }
  if (!fs::is_directory(path, ignored)) {
    return fail(ErrorCode::kNotFound,
                "{}: there is no such folder: begin the training without --resume", path.string());
  }
  std::vector<std::string> damaged;
  for (const fs::path& one : checkpoints_in(path)) {
    auto checkpoint = read_checkpoint(one);
    if (checkpoint) return FoundCheckpoint{one, *std::move(checkpoint), std::move(damaged)};
    damaged.push_back(checkpoint.error().message);
  }
  if (!damaged.empty()) {
    return fail(ErrorCode::kCorrupt, "{}: none of its checkpoints is whole: {}", path.string(),
                damaged.front());
  }
  return fail(ErrorCode::kNotFound,
              "{}: there is no checkpoint in it: begin the training without --resume",
              path.string());
}

Expected<CheckpointFolder> CheckpointFolder::open(const fs::path& folder, std::size_t keep) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return with_remedy(Expected<CheckpointFolder>(
        tl::unexpected(error_from_errno(error.value(), "making " + folder.string()))));
  }
  auto lock = FolderLock::try_take(folder);
  if (lock && !*lock) {
    return fail(ErrorCode::kUnavailable,
                "{}: another training writes its checkpoints there: name another folder",
                folder.string());
  }
  tidy(folder);
  return CheckpointFolder(folder, std::max<std::size_t>(keep, 1),
                          lock ? std::move(*lock) : std::nullopt);
}

std::vector<fs::path> CheckpointFolder::checkpoints() const { return checkpoints_in(folder_); }

Expected<fs::path> CheckpointFolder::write(const Checkpoint& checkpoint) {
  const std::string name = fmt::format("{}{:012}", kPrefix, checkpoint.progress.position.step);
  const fs::path target = folder_ / name;
  const fs::path beside = folder_ / (std::string(kHalfWritten) + name);
  std::error_code error;
  fs::remove_all(beside, error);
  const auto write_whole = [&]() -> Expected<> {
    fs::create_directory(beside, error);
    if (error) return tl::unexpected(error_from_errno(error.value(), beside.string()));
    PARETO_TRY(write_files(beside, checkpoint));
    return put_in_place(beside, target);
  };
  auto written = with_remedy(with_context(write_whole(), "checkpoint {}", target.string()));
  if (!written) {
    fs::remove_all(beside, error);
    return tl::unexpected(std::move(written).error());
  }
  remove_oldest(target);
  return target;
}

void CheckpointFolder::remove_oldest(const fs::path& written) const {
  std::vector<fs::path> all = checkpoints();
  // Newer ones belong to a training that this one left behind.
  const auto last = std::ranges::find(all, written.filename(), &fs::path::filename);
  all.erase(all.begin(), last);
  std::error_code ignored;
  for (std::size_t i = keep_; i < all.size(); ++i) fs::remove_all(all[i], ignored);
}

}  // namespace pareto::train
