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
#if defined(__GLIBC__)
#include <malloc.h>
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
  constexpr std::size_t kPage = std::size_t{1} << 21, kSmallPage = 4096;
  const std::size_t bytes = count * sizeof(T);
  if (bytes >= kPage / 2) {
    // What is left beyond the last large page is in small ones: it may be little.
    const std::size_t rounded = (bytes + kSmallPage - 1) / kSmallPage * kSmallPage;
    if (posix_memalign(&memory, kPage, rounded) != 0) memory = nullptr;
    if (memory) madvise(memory, rounded, MADV_HUGEPAGE);
  }
#endif
  if (!memory) memory = std::malloc(count * sizeof(T) + 1);
  if (!memory) throw std::bad_alloc();
  return LargeArray<T>(static_cast<T*>(memory));
}

// Gives memory that is not used back to the system, where that can be done: the allocator may keep
// much of what was free'd in small pieces.
inline void return_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace ellzero
