#include "coordinator/data/picture_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/data/check_input.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClassList = "classes.txt";
constexpr std::uint64_t kMostPictureBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostListBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostFiles = 50'000'000;
constexpr int kDeepest = 16;

constexpr std::array<std::string_view, 3> kRead{".jpeg", ".jpg", ".png"};
/// Formats that other programs read: to leave them out without a word would change the figures.
constexpr std::array<std::string_view, 10> kNotRead{".bmp", ".gif",  ".heic", ".pgm",  ".ppm",
                                                    ".tif", ".tiff", ".webp", ".avif", ".jp2"};

struct PictureFile {
  std::string path;  ///< from the data set's folder on
  std::int64_t label = 0;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class PictureFolder final : public DataSet {
 public:
  PictureFolder(fs::path folder, std::vector<std::string> classes, std::vector<PictureFile> files,
                Preprocessing preprocessing)
      : folder_(std::move(folder)),
        classes_(std::move(classes)),
        files_(std::move(files)),
        preprocessing_(std::move(preprocessing)) {}

  std::string title() const override { return folder_.string(); }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::int64_t classes() const override { return static_cast<std::int64_t>(classes_.size()); }
  const std::vector<std::string>& class_names() const override { return classes_; }

  Expected<Sample> sample(std::int64_t index) const override {
    if (index < 0 || index >= size()) {
      return fail(ErrorCode::kInvalidArgument, "{}: no sample {} of {}", title(), index, size());
    }
    const PictureFile& file = files_[static_cast<std::size_t>(index)];
    const fs::path path = folder_ / file.path;
    PARETO_ASSIGN(const std::string bytes, read_file(path, kMostPictureBytes));
    PARETO_ASSIGN(Picture picture, with_context(decode_picture(std::as_bytes(std::span(bytes))),
                                                "{}", path.string()));
    PARETO_ASSIGN(Tensor input, with_context(preprocess(std::move(picture), preprocessing_), "{}",
                                             path.string()));
    return Sample{std::move(input), file.label};
  }

 private:
  const fs::path folder_;
  const std::vector<std::string> classes_;
  const std::vector<PictureFile> files_;
  const Preprocessing preprocessing_;
};

/// Lists what a data set's folder holds. Threads: one owner.
class FolderReader {
 public:
  explicit FolderReader(fs::path folder) : folder_(std::move(folder)) {}

  Expected<> read() {
    PARETO_TRY(find_class_folders());
    PARETO_TRY(read_class_list());
    for (const std::string& name : folders_) PARETO_TRY(add_pictures_of(name));
    return {};
  }
  bool is_listed() const { return is_listed_; }
  std::vector<std::string> take_classes() { return std::move(classes_); }
  std::vector<PictureFile> take_files() { return std::move(files_); }

 private:
  Expected<> find_class_folders() {
    std::error_code error;
    if (fs::is_regular_file(folder_, error)) {
      return fail(ErrorCode::kInvalidArgument, "{}: is a file; a data set is a folder",
                  folder_.string());
    }
    bool has_pictures = false;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code absent;
      if (name.starts_with('.')) continue;
      if (entry->is_directory(absent)) folders_.push_back(name);
      has_pictures |= has_ending(entry->path(), kRead);
    }
    if (error) return tl::unexpected(error_from_errno(error.value(), folder_.string()));
    std::ranges::sort(folders_);
    if (!folders_.empty()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "{}: has no folder for each class{}: put pictures into folders that have the "
                "classes' names",
                folder_.string(), has_pictures ? ", but pictures" : "");
  }

  /// Reads classes.txt, if it is there: the classes in the model's order, a line each.
  Expected<> read_class_list() {
    classes_ = folders_;
    const fs::path path = folder_ / kClassList;
    std::error_code absent;
    if (!fs::exists(path, absent)) return {};
    PARETO_ASSIGN(const std::string text, read_file(path, kMostListBytes));
    is_listed_ = true;
    classes_ = split_list(text, '\n');
    for (std::string& name : classes_) {
      if (name.ends_with('\r')) name.pop_back();
    }
    std::set<std::string> listed;
    for (const std::string& name : classes_) {
      if (listed.insert(name).second) continue;
      return fail(ErrorCode::kInvalidArgument, "{}: has {} twice", path.string(), name);
    }
    for (const std::string& name : folders_) {
      if (listed.contains(name)) continue;
      return fail(ErrorCode::kInvalidArgument, "{}: lacks {}, which is a folder next to it{}",
                  path.string(), name, did_you_mean(name, classes_));
    }
    return {};
  }

  Expected<> add_pictures_of(const std::string& name) {
    const fs::path folder = folder_ / name;
    std::vector<fs::path> found;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink,
                                           error);
    for (const fs::recursive_directory_iterator end; !error && entry != end;
         entry.increment(error)) {
      if (entry.depth() > kDeepest) {
        return fail(ErrorCode::kInvalidArgument, "{}: is more than {} folders deep",
                    entry->path().string(), kDeepest);
      }
      if (has_ending(entry->path(), kNotRead)) {
        return fail(ErrorCode::kInvalidArgument,
                    "{}: only JPEG and PNG are read: convert it, or take it away",
                    entry->path().string());
      }
      std::error_code absent;
      if (has_ending(entry->path(), kRead) && !entry->is_directory(absent)) {
        found.push_back(entry->path());
      }
      if (files_.size() + found.size() > kMostFiles) {
        return fail(ErrorCode::kExhausted, "{}: has more than {} pictures", folder_.string(),
                    kMostFiles);
      }
    }
    if (error) return tl::unexpected(error_from_errno(error.value(), folder.string()));
    if (found.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: has no JPEG or PNG picture: take the folder away, or list the classes in {}",
                  folder.string(), (folder_ / kClassList).string());
    }
    // Folder by folder, as ImageFolder has them.
    std::ranges::sort(found, {}, [](const fs::path& path) {
      return std::pair(path.parent_path().string(), path.filename().string());
    });
    const auto label = std::ranges::find(classes_, name) - classes_.begin();
    for (const fs::path& path : found) {
      files_.push_back({path.lexically_relative(folder_).string(), label});
    }
    return {};
  }

  static bool has_ending(const fs::path& path, std::span<const std::string_view> endings) {
    const std::string ending = lower(path.extension().string());
    return std::ranges::find(endings, ending) != endings.end();
  }

  const fs::path folder_;
  std::vector<std::string> folders_;
  std::vector<std::string> classes_;
  bool is_listed_ = false;
  std::vector<PictureFile> files_;
};

}  // namespace

Expected<std::unique_ptr<DataSet>> open_picture_folder(const std::string& path,
                                                       const DataSetOptions& options) {
  const fs::path folder(path);
  FolderReader reader(folder);
  PARETO_TRY(reader.read());
  std::vector<std::string> classes = reader.take_classes();
  const auto count = static_cast<std::int64_t>(classes.size());
  if (options.classes > 0 && count > options.classes) {
    return fail(ErrorCode::kInvalidArgument, "{}: has {}, and the model tells {} apart", path,
                counted(count, "class", "classes"), options.classes);
  }
  if (options.classes > 0 && count < options.classes && !reader.is_listed()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: has {}, and the model tells {} apart: list the names of its folders in {}, in "
                "the model's order, a line each",
                path, counted(count, "class", "classes"), options.classes,
                (folder / kClassList).string());
  }
  PARETO_ASSIGN(Preprocessing preprocessing,
                with_context(settle_preprocessing(options, imagenet_preprocessing, std::nullopt),
                             "{}", path));
  return std::make_unique<PictureFolder>(folder, std::move(classes), reader.take_files(),
                                         std::move(preprocessing));
}

}  // namespace pareto::data
