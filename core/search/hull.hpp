// The lower convex hull of energies by size: which sizes k minimise energy_k + lam k for some lam.
#pragma once

#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

struct Hull {
  std::vector<Index> places;   // among the energies, increasing
  std::vector<double> slopes;  // between them, decreasing: where one gives way to the next
  double end = 0;              // the least lam that something is known about
};

// `next` is the energy of one more than the last, or that of the last: it says where the last
// interval ends. What is not lower by more than the floor than what is smaller is no solution.
inline Hull lower_hull(const double* energies, Index count, double next, double floor) {
  Hull hull;
  hull.places.reserve(count + 1);
  hull.slopes.reserve(count + 1);
  hull.places.push_back(0);
  const auto slope_to = [&](Index k, double value) {
    const Index last = hull.places.back();
    return (energies[last] - value) / static_cast<double>(k - last);
  };
  for (Index k = 0; k <= count; ++k) {
    const double value = k < count ? energies[k] : next;
    if (!(value < energies[hull.places.back()] - floor)) continue;
    double slope = slope_to(k, value);
    while (!hull.slopes.empty() && slope >= hull.slopes.back()) {
      hull.places.pop_back();
      hull.slopes.pop_back();
      slope = slope_to(k, value);
    }
    hull.places.push_back(k);
    hull.slopes.push_back(slope);
  }
  if (hull.places.back() == count) {
    hull.end = hull.slopes.back();
    hull.places.pop_back();
    hull.slopes.pop_back();
  }
  return hull;
}

}  // namespace ellzero
