#include "core/runtime/torch/compat.h"
#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::model {
namespace {

class Builder final : public ModelBuilder {
 public:
  using Build = Flat (*)(const ModelOptions&);
  Builder(std::string_view name, std::string_view reference, std::int64_t size, Build function)
      : name_(name), reference_(reference), size_(size), build_(function) {}

  std::string_view name() const override { return name_; }
  std::string_view reference() const override { return reference_; }
  InputShape default_input() const override { return {{3, size_, size_}, DType::kFloat32}; }
  Expected<Flat> build(const ModelOptions& options) const override {
    if (options.num_classes < 1 || options.num_classes > 1'000'000) {
      return fail(ErrorCode::kInvalidArgument, "{} classes: 1 to 1000000 are possible",
                  options.num_classes);
    }
    try {
      return build_(options);
    } catch (const std::exception& error) {
      return fail(ErrorCode::kInternal, "building {}: {}", name_, runtime::first_line(error));
    }
  }

 private:
  std::string_view name_;
  std::string_view reference_;
  std::int64_t size_;
  Build build_;
};

}  // namespace

std::vector<std::unique_ptr<ModelBuilder>> builtin_models() {
  std::vector<std::unique_ptr<ModelBuilder>> models;
  const auto add = [&](std::string_view name, std::string_view reference, std::int64_t size,
                       Builder::Build build) {
    models.push_back(std::make_unique<Builder>(name, reference, size, build));
  };
  add("mobilenetv2", "Sandler et al., Inverted residuals and linear bottlenecks, 2018", 224,
      build_mobilenetv2);
  add("mobilenetv3_large", "Howard et al., Searching for MobileNetV3, 2019", 224,
      build_mobilenetv3_large);
  add("resnet18", "He et al., Deep residual learning for image recognition, 2015", 224,
      build_resnet18);
  add("resnet50", "He et al., Deep residual learning for image recognition, 2015", 224,
      build_resnet50);
  add("vgg16", "Simonyan and Zisserman, Very deep convolutional networks, 2014", 224, build_vgg16);
  add("alexnet", "Krizhevsky, One weird trick for parallelizing convolutional networks, 2014", 224,
      build_alexnet);
  add("inceptionv3", "Szegedy et al., Rethinking the Inception architecture, 2015", 299,
      build_inceptionv3);
  add("googlenet", "Szegedy et al., Going deeper with convolutions, 2014", 224, build_googlenet);
  add("squeezenet1_0", "Iandola et al., SqueezeNet, 2016", 224, build_squeezenet1_0);
  add("densenet121", "Huang et al., Densely connected convolutional networks, 2016", 224,
      build_densenet121);
  return models;
}

}  // namespace pareto::model
