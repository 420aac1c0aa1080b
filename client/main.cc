// The whole of paretoctl: where to cut a model, over which network, for which trade-off. Its front
// (client/front) starts it.
#include "client/run_main.h"
#include "core/base/blas_kernels.h"
#include "core/base/leave.h"
#include "core/base/process_memory.h"
#include "core/base/standard_descriptors.h"
#include "core/base/start_again.h"
#include "core/transport/grpc/quiet.h"

int main(int argc, char** argv) {
  pareto::limit_arenas();
  pareto::open_missing_descriptors(argv);
  if (pareto::choose_blas_kernels()) pareto::start_again(argv);
  pareto::transport::silence_grpc();
  return pareto::leave(pareto::client::run_main({argv + (argc > 0 ? 1 : 0), argv + argc},
                                                pareto::client::builtin_commands()));
}
