#include "runtime/kernels/convolution_methods.h"

namespace pareto::runtime::kernels {

KnownMethods<ConvolutionKey, ConvolutionMethod>& convolution_methods() {
  static KnownMethods<ConvolutionKey, ConvolutionMethod> known;
  return known;
}

KnownMethods<std::vector<std::int64_t>, std::size_t>& chain_methods() {
  static KnownMethods<std::vector<std::int64_t>, std::size_t> known;
  return known;
}

}  // namespace pareto::runtime::kernels
