// Work shared among threads, in contiguous ranges. What a task computes must not depend on the
// range it falls into: that is what makes results the same whatever the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "base/interrupt.hpp"

namespace ellzero {

// What a long computation is given: how many threads it may use, and whom to ask whether to stop.
struct Context {
  int threads = 1;
  Interrupt* interrupt = nullptr;
  bool caller = true;  // whether it is for the thread that called into the core

  void check() const {
    if (caller && interrupt) interrupt->check();
    if (stopped()) throw Interrupted();
  }
  bool stopped() const { return interrupt && interrupt->stopped(); }
  // For one of several threads, which starts no others.
  Context single(bool is_caller) const { return {1, interrupt, caller && is_caller}; }
};

// Calls work(begin, end, poll) on ranges that cover [0, tasks). `poll` is to be called now and
// then: in the calling thread it throws Interrupted, in the others it returns true when they should
// leave.
template <class Work>
void parallel_ranges(std::ptrdiff_t tasks, const Context& context, Work&& work) {
  const auto threads =
      std::max<std::ptrdiff_t>(1, std::min<std::ptrdiff_t>(context.threads, tasks));
  const auto begin = [&](std::ptrdiff_t t) { return tasks * t / threads; };
  const auto poll_here = [&] {
    context.check();
    return false;
  };
  if (threads == 1) {
    work(std::ptrdiff_t{0}, tasks, poll_here);
    return;
  }
  std::vector<std::exception_ptr> errors(threads);
  std::vector<std::thread> crew;
  const auto leave = [&] {
    for (auto& member : crew) member.join();
    for (const auto& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  };
  try {
    for (std::ptrdiff_t t = 1; t < threads; ++t) {
      crew.emplace_back([&, t] {
        try {
          work(begin(t), begin(t + 1), [&] { return context.stopped(); });
        } catch (const Interrupted&) {  // somebody else knows why
        } catch (...) {
          errors[t] = std::current_exception();
          if (context.interrupt) context.interrupt->stop();
        }
      });
    }
    work(begin(0), begin(1), poll_here);
  } catch (...) {
    if (context.interrupt) context.interrupt->stop();
    leave();
    throw;
  }
  leave();
  if (context.stopped()) throw Interrupted();
}

}  // namespace ellzero
