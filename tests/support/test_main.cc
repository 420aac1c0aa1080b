// The main() of test programs: their operators have the kernels that the programs' have.
#include <gmock/gmock.h>

#include "core/base/blas_kernels.h"
#include "core/base/start_again.h"

int main(int argc, char** argv) {
  if (pareto::choose_blas_kernels()) pareto::start_again(argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
