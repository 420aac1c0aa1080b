// The drawing of a picture, as a picture of its own or inside a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/report/graph/graph_picture.h"
#include "client/report/graph/picture_layout.h"

namespace pareto::report::graph {

/// Returns the elements of clusters, edges and cards, without what is around them. Colours are of
/// classes (picture_style(), client/report/assets/graph.css); a heat is written as a colour.
/// Numbers of cards and edges stand in data-n and data-e.
std::string svg_scene(const GraphPicture& picture, const PictureLayout& layout, Heat heat);

/// Returns the colour of a share of the largest figure, 0 … 1, on white.
std::string heat_colour(double share);
/// Returns the share that a figure is drawn by: its root, so that small ones are told apart.
double heat_share(double value, double largest);
double largest_heat(const GraphPicture& picture, Heat heat);

/// Families of operators, which have a colour each: number 0 … kFamilies-1.
inline constexpr int kFamilies = 8;
int family_of(const PictureNode& node);
/// Returns the families of all cards but inputs and outputs, ascending.
std::vector<int> families_in(const GraphPicture& picture);
std::string_view family_name(int family);
std::string_view family_colour(int family);

}  // namespace pareto::report::graph
