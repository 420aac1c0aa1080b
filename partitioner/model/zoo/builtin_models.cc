#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/torch/compat.h"

namespace pareto::model::zoo {
namespace {

constexpr std::int64_t kMostClasses = 1'000'000;

/// A row of the list.
struct Architecture {
  std::string_view name;
  std::string_view reference;
  Flat (*build)(const Recipe&);
  std::int64_t side = 224;  ///< sides of its pictures, unless others are asked for
  std::int64_t classes = 1000;
  std::int64_t multiple = 1;  ///< sides have to be multiples of it
};

class Builder final : public ModelBuilder {
 public:
  explicit Builder(const Architecture& row) : row_(row) {}

  std::string_view name() const override { return row_.name; }
  std::string_view reference() const override { return row_.reference; }
  InputShape default_input() const override { return {{3, row_.side, row_.side}, DType::kFloat32}; }
  std::int64_t default_classes() const override { return row_.classes; }
  Expected<Flat> build(const ModelOptions& options) const override {
    PARETO_ASSIGN(const Recipe recipe, recipe_of(options));
    try {
      return row_.build(recipe);
    } catch (const std::exception& error) {
      return fail(ErrorCode::kInternal, "building {}: {}", row_.name, runtime::first_line(error));
    }
  }

 private:
  Expected<Recipe> recipe_of(const ModelOptions& options) const {
    Recipe recipe{.num_classes = options.num_classes.value_or(row_.classes), .seed = options.seed};
    if (recipe.num_classes < 1 || recipe.num_classes > kMostClasses) {
      return fail(ErrorCode::kInvalidArgument, "{} classes: 1 to {} are possible",
                  recipe.num_classes, kMostClasses);
    }
    const auto inputs = options.input.value_or(std::vector<InputShape>{default_input()});
    if (inputs.size() != 1 || inputs.front().per_sample.size() != 3 ||
        inputs.front().per_sample.front() != 3) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} takes pictures of three channels, {} by default, not {}", row_.name,
                  to_string(default_input().per_sample), to_text(inputs));
    }
    recipe.height = inputs.front().per_sample[1];
    recipe.width = inputs.front().per_sample[2];
    for (const std::int64_t side : {recipe.height, recipe.width}) {
      if (side < row_.multiple || side % row_.multiple != 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} takes pictures whose height and width are multiples of {}, not {}",
                    row_.name, row_.multiple, to_string(inputs.front().per_sample));
      }
    }
    return recipe;
  }

  Architecture row_;
};

constexpr std::string_view kResNet =
    "He et al., Deep residual learning for image recognition, 2015";

constexpr Architecture kArchitectures[] = {
    {"mobilenetv2", "Sandler et al., Inverted residuals and linear bottlenecks, 2018",
     build_mobilenetv2},
    {"mobilenetv3_large", "Howard et al., Searching for MobileNetV3, 2019",
     build_mobilenetv3_large},
    {"shufflenet_v2", "Ma et al., ShuffleNet V2: practical guidelines, 2018", build_shufflenet_v2},
    {"efficientnet_b0", "Tan and Le, EfficientNet: rethinking model scaling, 2019",
     build_efficientnet_b0},
    {"resnet18", kResNet, build_resnet18},
    {"resnet50", kResNet, build_resnet50},
    {"vgg16", "Simonyan and Zisserman, Very deep convolutional networks, 2014", build_vgg16},
    {"alexnet", "Krizhevsky, One weird trick for parallelizing convolutional networks, 2014",
     build_alexnet},
    {"inceptionv3", "Szegedy et al., Rethinking the Inception architecture, 2015",
     build_inceptionv3, 299},
    {"googlenet", "Szegedy et al., Going deeper with convolutions, 2014", build_googlenet},
    {"squeezenet1_0", "Iandola et al., SqueezeNet, 2016", build_squeezenet1_0},
    {"densenet121", "Huang et al., Densely connected convolutional networks, 2016",
     build_densenet121},
    {"vit_b_16", "Dosovitskiy et al., An image is worth 16x16 words, 2020", build_vit_b_16, 224,
     1000, 16},
    {"swin_t", "Liu et al., Swin transformer, 2021", build_swin_t},
    {"deeplabv3_resnet50", "Chen et al., Rethinking atrous convolution, 2017",
     build_deeplabv3_resnet50, 224, 21},
    {"yolov8n", "Jocher et al., Ultralytics YOLOv8, 2023", build_yolov8n, 640, 80, 32},
};

}  // namespace

std::vector<std::unique_ptr<ModelBuilder>> builtin_models() {
  std::vector<std::unique_ptr<ModelBuilder>> models;
  for (const Architecture& row : kArchitectures) models.push_back(std::make_unique<Builder>(row));
  return models;
}

}  // namespace pareto::model::zoo
