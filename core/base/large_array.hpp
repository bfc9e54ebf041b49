// Memory for large tables, not set to anything. Where the system can, it is asked for in large
// pages: getting small ones costs more than filling them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ellzero {

struct FreeLargeArray {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
using LargeArray = std::unique_ptr<T[], FreeLargeArray>;

template <class T>
LargeArray<T> make_large_array(std::size_t count) {
  void* memory = nullptr;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = std::size_t{1} << 21;
  const std::size_t bytes = count * sizeof(T);
  if (bytes >= kPage / 2) {
    const std::size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    memory = std::aligned_alloc(kPage, rounded);
    if (memory) madvise(memory, rounded, MADV_HUGEPAGE);
  }
#endif
  if (!memory) memory = std::malloc(count * sizeof(T) + 1);
  if (!memory) throw std::bad_alloc();
  return LargeArray<T>(static_cast<T*>(memory));
}

}  // namespace ellzero
