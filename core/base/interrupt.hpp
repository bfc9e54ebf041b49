// How long work is stopped. The thread that called into the core asks, at most every 50 ms, whether
// to stop; the threads it started read the answer from a flag.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>

namespace ellzero {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Interrupt {
 public:
  virtual ~Interrupt() = default;

  // For the calling thread only.
  void check() {
    const double now = seconds();
    if (now >= next_) {
      next_ = now + kEvery;
      if (requested()) stopped_ = true;
    }
    if (stopped_) throw Interrupted();
  }

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void stop() { stopped_ = true; }
  void reset() { stopped_ = false; }

 protected:
  virtual bool requested() { return false; }

 private:
  static constexpr double kEvery = 0.05;

  // Loops whose rounds take a microsecond look at the clock: a coarse one, if there is one, is
  // cheap.
  static double seconds() {
#ifdef CLOCK_MONOTONIC_COARSE
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
#endif
  }

  std::atomic<bool> stopped_{false};
  double next_ = seconds() + kEvery;
};

}  // namespace ellzero
