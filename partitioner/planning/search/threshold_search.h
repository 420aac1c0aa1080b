// The exact front in latency and throughput, window by window.
//
// With W requests in flight a placement answers after R = max(L, W B), W / R times a second. So for
// one window both objectives are best where R is least. The front has at most one point a window,
// which is found for each window as
//
//   R_W = min over placements of max(L, W B) = min over caps c of max(f(c), W c)
//   f(c) = least L of all with B <= c
//
// LatencyToGo answers f. f descends while W c ascends, so R_W lies where they cross. Each cap tried
// says something for all windows at once: placements with B <= c take f(c) or more, all others W (c
// + 1) or more. A placement that reaches f(c) is a new best for some windows.
#pragma once

#include <vector>

#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/tables.h"

namespace pareto::search {

/// Adds the pipelines' part of the front; placements go to `witnesses`. For instances without
/// shared media. `inputs` pass check_search(). Returns how many caps it tried, which is what its
/// time depends on. Fails: as check_size().
Expected<int> threshold_search(const planning::CostInputs& inputs, planning::WindowRange windows,
                               PointFront& front, std::vector<planning::Placement>& witnesses);

}  // namespace pareto::search
