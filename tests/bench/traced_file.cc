#include "tests/bench/traced_file.h"

#include <chrono>

#include "tests/support/process.h"

namespace pareto::bench {

Expected<std::filesystem::path> traced_file(const std::string& model,
                                            const std::filesystem::path& folder) {
  constexpr std::chrono::minutes kTracingPatience{5};
  const std::filesystem::path file = folder / (model + ".pt");
  const auto done =
      test::run({"/usr/bin/python3", PARETO_BENCH_SCRIPTS "/trace_model.py", model, file.string()},
                {"OMP_NUM_THREADS=1"}, kTracingPatience);
  if (done.exit_code == 0) return file;
  return fail(ErrorCode::kUnavailable, "tracing {} with python3-torchvision: {}", model,
              done.errors);
}

}  // namespace pareto::bench
