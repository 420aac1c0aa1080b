// The built-in architectures, one function each, listed in builtin_models.cc. All take pictures of
// three channels and return one row of class scores a picture. Architectures are those of the
// papers named in that list, module names those of torchvision.
#pragma once

#include <cstdint>

#include "partitioner/model/graph/flat.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::model {

Flat build_alexnet(const ModelOptions& options);
Flat build_densenet121(const ModelOptions& options);
Flat build_googlenet(const ModelOptions& options);
Flat build_inceptionv3(const ModelOptions& options);
Flat build_mobilenetv2(const ModelOptions& options);
Flat build_mobilenetv3_large(const ModelOptions& options);
Flat build_resnet18(const ModelOptions& options);
Flat build_resnet50(const ModelOptions& options);
Flat build_squeezenet1_0(const ModelOptions& options);
Flat build_vgg16(const ModelOptions& options);

}  // namespace pareto::model
