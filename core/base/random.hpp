// Random numbers: xoshiro256++ (Blackman and Vigna 2021), one stream for every chain.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace ellzero {

class Random {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }

  Random(std::uint64_t seed, std::uint64_t stream) {
    // Splitmix64 fills the state; every stream starts elsewhere in it.
    std::uint64_t x = seed + stream * 0xd1342543de82ef95u;
    for (std::uint64_t& word : state_) {
      x += 0x9e3779b97f4a7c15u;
      std::uint64_t z = x;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  result_type operator()() { return next(state_); }

  // Strictly between 0 and 1.
  double uniform() { return uniform_of((*this)()); }
  // Many of them: the state stays in registers.
  void fill_uniform(double* out, std::ptrdiff_t count) {
    std::array<std::uint64_t, 4> state = state_;
    for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = uniform_of(next(state));
    state_ = state;
  }
  double normal() { return normal_(*this); }
  double exponential() { return -std::log(uniform()); }
  // Of mean `shape`. Not zero, which it would round to for small shapes.
  double gamma(double shape) {
    return std::max(std::gamma_distribution<double>(shape, 1.0)(*this), 1e-280);
  }
  double beta(double a, double b) {
    const double x = gamma(a);
    return x / (x + gamma(b));
  }
  // Of density proportional to x^(-shape-1) exp(-rate / x).
  double inverse_gamma(double shape, double rate) { return rate / gamma(shape); }
  // Inverse Gaussian (Michael, Schucany and Haas 1976).
  double inverse_gaussian(double mean, double shape) {
    const double v = normal(), w = mean * v * v;
    // The smaller root of the quadratic, without the cancellation of its usual form.
    const double x = mean / (1 + (w + std::sqrt(w * (4 * shape + w))) / (2 * shape));
    return uniform() * (mean + x) <= mean ? x : mean * (mean / x);
  }

  // Where the generator is, and going on from there. Of a pair of normals the second is forgotten.
  const std::array<std::uint64_t, 4>& words() const { return state_; }
  void set_words(const std::array<std::uint64_t, 4>& words) {
    state_ = words;
    normal_.reset();
  }

 private:
  static std::uint64_t next(std::array<std::uint64_t, 4>& state) {
    const std::uint64_t result = rotate(state[0] + state[3], 23) + state[0];
    const std::uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
  }
  static double uniform_of(std::uint64_t word) {
    // Processors turn signed integers into numbers more readily.
    return (static_cast<double>(static_cast<std::int64_t>(word >> 11)) + 0.5) * 0x1p-53;
  }
  static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

  std::array<std::uint64_t, 4> state_;
  std::normal_distribution<double> normal_;
};

}  // namespace ellzero
