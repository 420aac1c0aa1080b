#include "client/commands/picture_flags.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>

#include "core/base/file.h"

namespace pareto::client {

void PictureFlags::add_to(CLI::App& app) {
  // A drawing smaller than its labels, or larger than a browser draws, is a typing error.
  const CLI::Range size(400, 16'000);
  app.add_option("--png", png_, "the front as a picture, by Chromium or Chrome");
  app.add_option("--svg", svg_, "the same as a drawing, the chart alone");
  of_pictures_ = {
      app.add_option("--width", options_.width, "of the picture, in pixels, even")
          ->check(size)
          ->capture_default_str(),
      app.add_option("--height", options_.height, "of the picture, in pixels, even")
          ->check(size)
          ->capture_default_str(),
      app.add_option("--theme", theme_, "of the picture")
          ->check(CLI::IsMember({"light", "dark"}))
          ->capture_default_str(),
      app.add_option("--condition", options_.condition,
                     "the picture's network (default: the run's first)"),
      app.add_option("--batch", options_.batch, "the picture's batch (default: the smallest)")
          ->check(CLI::PositiveNumber),
      app.add_option("--browser", browser_.program,
                     "what draws pictures (default: chromium, or google-chrome)")};
}

Expected<> PictureFlags::check() const {
  if (any()) {
    for (const auto& [flag, pixels] :
         {std::pair("--width", options_.width), std::pair("--height", options_.height)}) {
      if (pixels % kPixelsPerUnit != 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} {}: a unit of length of the picture has {} pixels: name an even number",
                    flag, pixels, kPixelsPerUnit);
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

Expected<> PictureFlags::write(Context& context, const RunRecord& run) const {
  if (!png_.empty()) PARETO_TRY(write_one(context, run, png_, PictureFormat::kPng));
  if (!svg_.empty()) PARETO_TRY(write_one(context, run, svg_, PictureFormat::kSvg));
  return {};
}

Expected<> PictureFlags::write_one(Context& context, const RunRecord& run, const std::string& path,
                                   PictureFormat format) const {
  PictureOptions options = options_;
  options.dark = theme_ == "dark";
  Browser browser = browser_;
  browser.stop = context.stop.descriptor();
  PARETO_ASSIGN(const std::string bytes,
                with_context(front_picture(run, options, format, browser), "drawing the front"));
  PARETO_TRY(with_context(write_file_atomically(path, bytes), "writing the picture"));
  context.err << "picture: " << path << '\n';
  return {};
}

}  // namespace pareto::client
