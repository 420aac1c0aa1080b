// The whole of paretoctl: where to cut a model, over which network, for which trade-off. Its front
// (client/front) starts it.
#include "client/run_main.h"
#include "core/base/leave.h"
#include "core/base/process_memory.h"
#include "core/base/standard_descriptors.h"
#include "core/transport/grpc/quiet.h"

int main(int argc, char** argv) {
  pareto::limit_arenas();
  pareto::open_missing_descriptors(argv);
  pareto::transport::silence_grpc();
  return pareto::leave(pareto::client::run_main({argv + (argc > 0 ? 1 : 0), argv + argc},
                                                pareto::client::builtin_commands()));
}
