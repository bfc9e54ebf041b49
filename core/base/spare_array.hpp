// Memory for tables of some megabytes that are made again and again, not set to anything: some of
// what was given back is kept, since getting it from the system costs as much as filling it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/kernels.hpp"
#include "base/large_array.hpp"

namespace ellzero {

class SpareArrays {
 public:
  // It begins where a line of the processor's cache does.
  static std::shared_ptr<double[]> make(Index count) {
    Block block = take(count);
    if (!block.memory) {
      block.memory = make_large_array<double>(count + kLine);
      block.count = count;
    }
    double* values = block.memory.get();
    const auto place = reinterpret_cast<std::uintptr_t>(values) / sizeof(double);
    values += (kLine - place % kLine) % kLine;
    auto owner = std::make_shared<Owner>(std::move(block));
    return {std::move(owner), values};
  }

 private:
  static constexpr Index kLine = 8;
  static constexpr Index kKept = 1 << 20;  // numbers, in all blocks that are kept
  static constexpr std::size_t kBlocks = 4;

  struct Block {
    LargeArray<double> memory;
    Index count = 0;
  };
  struct Owner {
    explicit Owner(Block given) : block(std::move(given)) {}
    ~Owner() { give_back(std::move(block)); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    Block block;
  };
  struct Spare {
    std::mutex lock;
    std::vector<Block> blocks;  // the longest kept first
  };
  // Never destroyed: arrays may be given back while the program ends.
  static Spare& spare() {
    static Spare* const all = new Spare;
    return *all;
  }

  // One that is large enough, and not by far too large; none if there is none.
  static Block take(Index count) {
    const std::lock_guard<std::mutex> guard(spare().lock);
    std::vector<Block>& blocks = spare().blocks;
    const auto fits = [&](const Block& b) { return b.count >= count && b.count <= 2 * count; };
    const auto found = std::find_if(blocks.begin(), blocks.end(), fits);
    if (found == blocks.end()) return {};
    Block out = std::move(*found);
    blocks.erase(found);
    return out;
  }

  static void give_back(Block block) {
    if (block.count > kKept) return;
    std::vector<Block> dropped;  // freed after the lock is
    const std::lock_guard<std::mutex> guard(spare().lock);
    std::vector<Block>& blocks = spare().blocks;
    blocks.push_back(std::move(block));
    Index all = 0;
    for (const Block& each : blocks) all += each.count;
    while (blocks.size() > kBlocks || all > kKept) {
      all -= blocks.front().count;
      dropped.push_back(std::move(blocks.front()));
      blocks.erase(blocks.begin());
    }
  }
};

inline std::shared_ptr<double[]> make_spare_array(Index count) { return SpareArrays::make(count); }

}  // namespace ellzero
