// Where the segments of each candidate begin: a tree that grows towards its leaves, a node a
// segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "segment/series.hpp"

namespace ellzero {

class SegmentHistory {
 public:
  using Node = std::int64_t;
  static constexpr Node kNone = -1;

  Node add(Index start, Node parent) {
    nodes_.push_back({start, parent});
    return static_cast<Node>(nodes_.size()) - 1;
  }

  bool crowded() const { return nodes_.size() > crowd_; }

  // Forgets the nodes that no leaf descends from; `visit(f)` is to call f(node) on every leaf. Run
  // when crowded() and only then, it takes constant time a node.
  template <class Visit>
  void forget_the_dead(Visit&& visit) {
    std::vector<Node> place(nodes_.size(), kNone);
    visit([&](Node& leaf) { place[leaf] = 0; });
    for (std::size_t k = nodes_.size(); k-- > 0;) {  // a parent comes before its children
      if (place[k] == 0 && nodes_[k].parent != kNone) place[nodes_[k].parent] = 0;
    }
    Node kept = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (place[k] == kNone) continue;
      const Node parent = nodes_[k].parent;
      nodes_[kept] = {nodes_[k].start, parent == kNone ? kNone : place[parent]};
      place[k] = kept++;
    }
    nodes_.resize(kept);
    visit([&](Node& leaf) { leaf = place[leaf]; });
    crowd_ = std::max<std::size_t>(kFew, 2 * nodes_.size());
  }

  // The beginnings of the segments up to `leaf`, in order.
  std::vector<Index> starts(Node leaf) const {
    std::vector<Index> found;
    for (Node k = leaf; k != kNone; k = nodes_[k].parent) found.push_back(nodes_[k].start);
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  static constexpr std::size_t kFew = 4096;
  struct Entry {
    Index start;
    Node parent;
  };
  std::vector<Entry> nodes_;
  std::size_t crowd_ = kFew;
};

}  // namespace ellzero
