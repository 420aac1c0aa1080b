// The built-in architectures, one function each, listed in builtin_models.cc. All take pictures of
// three channels. Architectures are those of the papers named in that list, module names those of
// torchvision, or of ultralytics if torchvision lacks the model.
#pragma once

#include <cstdint>

#include "partitioner/model/graph/flat.h"

namespace pareto::model::zoo {

/// The choices that an architecture is built with: checked, none left open.
struct Recipe {
  std::int64_t num_classes = 0;
  std::int64_t height = 0;  ///< height of a picture, in pixels
  std::int64_t width = 0;
  std::uint64_t seed = 0;
};

Flat build_alexnet(const Recipe& recipe);
Flat build_deeplabv3_resnet50(const Recipe& recipe);
Flat build_densenet121(const Recipe& recipe);
Flat build_efficientnet_b0(const Recipe& recipe);
Flat build_googlenet(const Recipe& recipe);
Flat build_inceptionv3(const Recipe& recipe);
Flat build_mobilenetv2(const Recipe& recipe);
Flat build_mobilenetv3_large(const Recipe& recipe);
Flat build_resnet18(const Recipe& recipe);
Flat build_resnet50(const Recipe& recipe);
Flat build_shufflenet_v2(const Recipe& recipe);
Flat build_squeezenet1_0(const Recipe& recipe);
Flat build_swin_t(const Recipe& recipe);
Flat build_vgg16(const Recipe& recipe);
Flat build_vit_b_16(const Recipe& recipe);
Flat build_yolov8n(const Recipe& recipe);

}  // namespace pareto::model::zoo
