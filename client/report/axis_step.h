// Steps of the axes of pictures.
#pragma once

namespace pareto::report {

/// Returns a step of 1, 2 or 5 times a power of ten, of which at most about `steps` make the range.
double axis_step(double range, double steps);

}  // namespace pareto::report
