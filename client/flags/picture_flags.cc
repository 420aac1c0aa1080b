#include "client/flags/picture_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <utility>

#include "core/base/file.h"
#include "core/base/usage.h"

namespace pareto::client {

void PictureFlags::add_to(CLI::App& app) {
  // A drawing smaller than its labels, or larger than a browser draws, is a typing error.
  const CLI::Validator size = CLI::Range(400, 16'000).description("");
  const Heading heading(app, "Picture");
  set_value(app.add_option("--png", png_, "PNG file to write the front to, by Chromium or Chrome"),
            "FILE");
  set_value(app.add_option("--svg", svg_, "SVG file to write the chart to"), "FILE");
  of_pictures_ = {
      set_value(app.add_option("--width", options_.width, "width in pixels, an even number"), "N")
          ->check(size)
          ->capture_default_str(),
      set_value(app.add_option("--height", options_.height, "height in pixels, an even number"),
                "N")
          ->check(size)
          ->capture_default_str(),
      app.add_option("--theme", theme_, "colours of the picture")
          ->check(CLI::IsMember({"light", "dark"}))
          ->capture_default_str(),
      set_value(app.add_option("--condition", options_.condition,
                               "network that is drawn (default: the run's first)"),
                "NAME"),
      set_value(app.add_option("--batch", options_.batch,
                               "batch size that is drawn (default: the smallest)"),
                "N")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description("")),
      set_value(app.add_option("--browser", browser_.program,
                               "program that draws (default: chromium, or google-chrome)"),
                "FILE")};
}

Expected<> PictureFlags::check() const {
  for (const auto& [flag, file] : {std::pair("--png", &png_), std::pair("--svg", &svg_)}) {
    const std::string ending = std::filesystem::path(*file).extension().string();
    if (ending.empty() || ending == "." + std::string(flag + 2)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} {}: {} files are written here, and the name ends with {} (there are --png and "
                "--svg)",
                flag, *file, flag + 2, ending);
  }
  if (any()) {
    for (const auto& [flag, pixels] :
         {std::pair("--width", options_.width), std::pair("--height", options_.height)}) {
      if (pixels % report::kPixelsPerUnit != 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} {}: a unit of length of the picture has {} pixels: name an even number",
                    flag, pixels, report::kPixelsPerUnit);
      }
    }
    return {};
  }
  for (const CLI::Option* option : of_pictures_) {
    if (option->count() > 0) {
      return fail(ErrorCode::kInvalidArgument, "{} is for a picture: name its file with --png",
                  option->get_name());
    }
  }
  return {};
}

Expected<> PictureFlags::write(Context& context, const results::RunRecord& run) const {
  if (!png_.empty()) PARETO_TRY(write_one(context, run, png_, report::PictureFormat::kPng));
  if (!svg_.empty()) PARETO_TRY(write_one(context, run, svg_, report::PictureFormat::kSvg));
  return {};
}

Expected<> PictureFlags::write_one(Context& context, const results::RunRecord& run,
                                   const std::string& path, report::PictureFormat format) const {
  report::PictureOptions options = options_;
  options.dark = theme_ == "dark";
  report::Browser browser = browser_;
  browser.stop = context.stop.descriptor();
  PARETO_ASSIGN(
      const std::string bytes,
      with_context(report::front_picture(run, options, format, browser), "drawing the front"));
  PARETO_TRY(with_context(write_file_atomically(path, bytes), "writing the picture"));
  context.err << "picture: " << path << '\n';
  return {};
}

}  // namespace pareto::client
