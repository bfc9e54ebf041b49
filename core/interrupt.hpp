// How long work is stopped. The thread that called into the core asks, at most every 50 ms, whether
// to stop; the threads it started read the answer from a flag.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

namespace ellzero {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Interrupt {
 public:
  virtual ~Interrupt() = default;

  // From any thread.
  void check() {
    if (in_calling_thread()) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next_) {
        next_ = now + std::chrono::milliseconds(50);
        if (requested()) stopped_ = true;
      }
    }
    if (stopped()) throw Interrupted();
  }

  bool in_calling_thread() const { return std::this_thread::get_id() == caller_; }

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void stop() { stopped_ = true; }
  // Whoever calls this is the calling thread from now on.
  void reset() {
    stopped_ = false;
    caller_ = std::this_thread::get_id();
  }

 protected:
  virtual bool requested() { return false; }

 private:
  std::atomic<bool> stopped_{false};
  std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

}  // namespace ellzero
