// Small pictures as files, for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pareto::data {

/// Returns a picture's bytes, made up from a seed: red, green and blue.
std::vector<std::uint8_t> made_up_pixels(int height, int width, int seed);
/// Returns a PNG or JPEG file of made_up_pixels().
std::string png_bytes(int height, int width, int seed = 0);
std::string jpeg_bytes(int height, int width, int seed = 0);
/// Writes a file, and the folders that it needs.
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace pareto::data
