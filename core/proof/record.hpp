// What a proof consists of, so that others can check it: for every node the bounds that were used.
#pragma once

#include <utility>
#include <vector>

#include "proof/safe_bound.hpp"

namespace ellzero {

// One bound that was used, on the columns that were in and free at the time, and what it fixed.
struct ProofStep {
  std::vector<int> columns;
  Index in = 0;
  std::vector<float> d;
  std::vector<double> u, u_low;  // u_low: more digits for those in
  std::vector<int> fixed_in, fixed_out;
};

// How a node ended: kBranched has two children, which begin where it ended.
enum class NodeEnd { kOpen, kClosed, kBranched };

struct ProofNode {
  Index parent = -1;
  int column = -1;  // that was decided to make it, or -1 for the root
  bool inside = false;
  NodeEnd end = NodeEnd::kOpen;
  std::vector<ProofStep> steps;
};

// Nodes in the order in which they were made. When they take too much memory all are dropped.
class ProofRecord {
 public:
  explicit ProofRecord(double most_bytes) : most_bytes_(most_bytes) {}

  bool complete() const { return complete_; }
  std::vector<ProofNode> take() { return std::move(nodes_); }

  // Returns its place, or -1 if nothing is recorded any more.
  Index add(Index parent, int column, bool inside) {
    if (!complete_) return -1;
    ProofNode node;
    node.parent = parent;
    node.column = column;
    node.inside = inside;
    nodes_.push_back(std::move(node));
    bytes_ += sizeof(ProofNode);
    return static_cast<Index>(nodes_.size()) - 1;
  }

  void add_step(Index node, const Evidence& evidence, std::vector<int> fixed_in,
                std::vector<int> fixed_out) {
    if (!complete_) return;
    ProofStep step;
    step.columns = evidence.columns;
    step.in = evidence.in;
    step.d.assign(evidence.d.begin(), evidence.d.end());
    step.u = evidence.u;
    step.u_low = evidence.u_low;
    step.fixed_in = std::move(fixed_in);
    step.fixed_out = std::move(fixed_out);
    bytes_ += sizeof(ProofStep) + 16.0 * static_cast<double>(evidence.columns.size());
    nodes_[node].steps.push_back(std::move(step));
    if (bytes_ <= most_bytes_) return;
    complete_ = false;
    nodes_.clear();
    nodes_.shrink_to_fit();
  }

  void end(Index node, NodeEnd how) {
    if (complete_) nodes_[node].end = how;
  }

 private:
  double most_bytes_;
  double bytes_ = 0;
  bool complete_ = true;
  std::vector<ProofNode> nodes_;
};

}  // namespace ellzero
