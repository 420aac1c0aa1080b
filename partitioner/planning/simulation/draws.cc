#include "partitioner/planning/simulation/draws.h"

#include <algorithm>
#include <cmath>

namespace pareto::simulation {

double normal_quantile(double share) {
  const double centred = share - 0.5;
  if (std::abs(centred) <= 0.425) {
    const double r = 0.180625 - centred * centred;
    return centred *
           (((5.9109374720e+01 * r + 1.5929113202e+02) * r + 5.0434271938e+01) * r +
            3.3871327179e+00) /
           (((6.7187563600e+01 * r + 7.8757757664e+01) * r + 1.7895169469e+01) * r + 1);
  }
  double r = std::sqrt(-std::log(centred < 0 ? share : 1 - share));
  double deviate = 0;
  if (r <= 5) {
    r -= 1.6;
    deviate = (((1.7023821103e-01 * r + 1.3067284816e+00) * r + 2.7568153900e+00) * r +
               1.4234372777e+00) /
              ((1.2021132975e-01 * r + 7.3700164250e-01) * r + 1);
  } else {
    r -= 5;
    deviate = (((1.7337203997e-02 * r + 4.2868294337e-01) * r + 3.0812263860e+00) * r +
               6.6579051150e+00) /
              ((1.2258202635e-02 * r + 2.4197894225e-01) * r + 1);
  }
  return centred < 0 ? -deviate : deviate;
}

DurationDraw::DurationDraw(const Duration& duration, double speed) {
  const double mean = to_nanoseconds(duration.mean) / speed;
  if (duration.column >= 0) {
    kind_ = Kind::kRecorded;
    column_ = duration.column;
    scale_ = 1 / speed;
  } else if (duration.shape == Shape::kExponential && mean > 0) {
    kind_ = Kind::kExponential;
    scale_ = mean;
  } else if (duration.cv == 0 || mean == 0) {
    constant_ = std::llround(mean);
  } else if (duration.shape == Shape::kNormal) {
    kind_ = Kind::kNormal;
    location_ = mean;
    scale_ = mean * duration.cv;
  } else {
    kind_ = Kind::kLognormal;
    const double variance = std::log1p(duration.cv * duration.cv);
    location_ = std::log(mean) - variance / 2;
    scale_ = std::sqrt(variance);
  }
}

std::int64_t DurationDraw::draw_varying(std::uint64_t bits,
                                        std::span<const std::int64_t> row) const {
  double time = 0;
  switch (kind_) {
    case Kind::kConstant:
      return constant_;
    case Kind::kRecorded:
      time = static_cast<double>(row[static_cast<std::size_t>(column_)]) * scale_;
      break;
    case Kind::kLognormal:
      time = std::exp(location_ + scale_ * normal_quantile(uniform_of(bits)));
      break;
    case Kind::kNormal:
      time = location_ + scale_ * normal_quantile(uniform_of(bits));
      break;
    case Kind::kExponential:
      time = -scale_ * std::log(uniform_of(bits));
      break;
  }
  // Nobody waits for a request longer than this.
  constexpr double kMost = 1e15;
  return std::llround(std::clamp(time, 0.0, kMost));
}

}  // namespace pareto::simulation
