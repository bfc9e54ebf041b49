// What a segment costs as a function of its present level a:
//
//   q(a) = (a - vertex)^2 / (2 width) + least
//
// The level decays: in terms of the next sample's level the vertex is multiplied by the decay and
// the width by its square. So the width only shrinks, and nothing overflows however old a segment
// gets; its inverse, the usual leading coefficient, would. `least` grows by what the new sample
// adds and is never a difference of large sums.
#pragma once

namespace ellzero {

struct SegmentCost {
  double vertex;
  double width;
  double least;

  void decay(double factor) {
    vertex *= factor;
    width *= factor * factor;
  }

  // Adds 1/2 weight (y - a)^2.
  void observe(double y, double weight) {
    const double surprise = y - vertex;
    const double shrink = 1 / (1 + weight * width);
    const double pull = weight * shrink * surprise;
    least += 0.5 * pull * surprise;
    vertex += pull * width;
    width *= shrink;
  }

  // Of a segment that begins with this sample, at the price `start` of all that went before.
  static SegmentCost begin(double y, double weight, double start) { return {y, 1 / weight, start}; }

  double at(double a) const {
    const double off = a - vertex;
    return off == 0 ? least : least + off * off / (2 * width);
  }
};

}  // namespace ellzero
