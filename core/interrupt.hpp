// How long work is stopped. The thread that called into the core asks, at most every 50 ms, whether
// to stop; the threads it started read the answer from a flag.
#pragma once

#include <atomic>
#include <chrono>
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
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_) {
      next_ = now + std::chrono::milliseconds(50);
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
  std::atomic<bool> stopped_{false};
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

}  // namespace ellzero
