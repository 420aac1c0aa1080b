// ResNet-50 without its classifier, on which other models stand.
#pragma once

#include <string>

#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {

/// Adds all layers of ResNet-50 but pooling and classifier, under paths that begin with `prefix`
/// ("backbone."). The last two layers keep the size, and dilate their convolutions instead. Returns
/// 2048 channels, of an eighth of the picture's height and width.
Network::Value dilated_resnet50_trunk(Network& net, const std::string& prefix);

}  // namespace pareto::model::zoo
