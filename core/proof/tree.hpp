// Branch and bound: the least value over all supports, or as much of a bound on it as time allows.
//
//   minimise 1/2 y'y - c'b + 1/2 b'G b + prices of the columns in use, at most cap of them
//
// A node is a set of columns that are in and a set that are free; its bound is that of
// safe_bound.hpp, with u and D from relaxation.hpp. Columns without which, or with which, nothing
// as good as the incumbent is left are fixed; then one column is put in and left out. The node of
// least bound is next; of those in memory, when they are too many, the one that was made last.
//
// Whatever is closed, and whatever is left out by fixing a column, has a bound that safe_bound()
// has returned: the least of these is the bound on everything. Each is recorded, so that others can
// check it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "proof/coordinate_descent.hpp"
#include "proof/record.hpp"
#include "proof/relaxation.hpp"
#include "proof/safe_bound.hpp"

namespace ellzero {

struct ProofSettings {
  double objective = 0;      // of the best support known
  std::vector<int> support;  // that support
  double tolerance = 0;      // a node is closed if nothing in it is better by more than this,
  double gap = 0;            // or than this share of the objective
  double seconds = 60;
  Index max_nodes = -1;         // to look at; -1 for no limit
  Index max_open = 100000;      // in memory, beyond which it goes depth first
  double record_bytes = 256e6;  // what the record may take
  double barrier = 0.2;         // the barrier's weight, as a share of what is to be gained
  double nu = 0;                // what a column is about worth beyond its price, if there is a cap
  Index wide = 250;             // free columns, beyond which Newton's method takes too long
  bool enumerate = false;       // where no relaxation bounds anything
};

struct ProofResult {
  double bound = 0;
  double objective = 0;
  std::vector<int> support;
  Index nodes = 0;
  Index open = 0;        // nodes that were not looked at
  Index unresolved = 0;  // that could be neither closed nor divided
  Index newton_steps = 0;
  bool recorded = true;
  bool interrupted = false;
  std::vector<double> in_margin, out_margin;  // least bound without, and with, each column
  std::vector<ProofNode> record;
};

using ProofProgress = std::function<void(Index nodes, double bound, double objective)>;

class ProofTree {
 public:
  ProofTree(const ProofProblem& problem, ProofSettings settings)
      : problem_(problem), settings_(std::move(settings)), record_(settings_.record_bytes) {
    out_.objective = settings_.objective;
    out_.support = settings_.support;
    const double infinity = std::numeric_limits<double>::infinity();
    out_.in_margin.assign(problem_.columns(), infinity);
    out_.out_margin.assign(problem_.columns(), infinity);
    least_ = infinity;
  }

  // `in` are the forced columns, `free` those that may be chosen.
  void run(std::vector<int> in, std::vector<int> free, const Context& context,
           const ProofProgress& progress = {}) {
    begin_ = now();
    auto root = std::make_unique<Node>();
    root->in = std::move(in);
    root->free = std::move(free);
    root->bound = -std::numeric_limits<double>::infinity();
    root->nu = settings_.nu;
    root->record = record_.add(-1, -1, false);
    push(std::move(root));
    std::unique_ptr<Node> node;
    relaxation_.pause = [&] {
      context.check();
      return is_late();
    };
    try {
      double reported = begin_;
      while (!open_.empty()) {
        if (settings_.max_nodes >= 0 && out_.nodes >= settings_.max_nodes) break;
        if (is_late()) break;
        context.check();
        if (progress && now() - reported > 0.1) {
          reported = now();
          progress(out_.nodes, bound(), out_.objective);
        }
        node = pop();
        if (node->bound >= target()) {
          close(*node, nullptr);
          continue;
        }
        ++out_.nodes;
        process(*node);
        node.reset();
      }
    } catch (const Interrupted&) {
      out_.interrupted = true;
      if (node) count_open(*node);  // in the midst of which it was
    }
    for (const auto& entry : open_) count_open(*entry.second);
    out_.open = static_cast<Index>(open_.size());
    out_.bound = least_;
    out_.newton_steps = relaxation_.total_steps;
    out_.recorded = record_.complete();
    out_.record = record_.take();
  }

  ProofResult take() { return std::move(out_); }

 private:
  struct Node {
    std::vector<int> in, free;
    std::vector<float> d, v;                  // per free column, of the parent; empty at the root
    std::vector<std::pair<int, float>> warm;  // relaxed coefficients of the parent, if it was wide
    double nu = 0;
    double bound;
    Index record = -1;
    Index depth = 0;
  };
  struct Key {
    double bound;
    Index id;
    bool operator<(const Key& other) const {
      return bound < other.bound || (bound == other.bound && id > other.id);
    }
  };

  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  bool is_late() const { return now() - begin_ >= settings_.seconds; }

  double tolerance() const {
    return std::max(settings_.tolerance, settings_.gap * std::fabs(out_.objective));
  }
  double target() const { return out_.objective - tolerance(); }
  double bound() const {
    return open_.empty() ? least_ : std::min(least_, open_.begin()->first.bound);
  }

  void push(std::unique_ptr<Node> node) {
    const Key key{node->bound, next_id_++};
    open_.emplace(key, std::move(node));
    newest_.push_back(key);
  }
  std::unique_ptr<Node> pop() {
    auto at = open_.begin();
    if (static_cast<Index>(open_.size()) > settings_.max_open) {
      while (at = open_.find(newest_.back()), at == open_.end()) newest_.pop_back();
    }
    std::unique_ptr<Node> node = std::move(at->second);
    open_.erase(at);
    if (newest_.size() > 4 * open_.size() + 1000) {
      std::vector<Key> kept;
      for (const Key& key : newest_) {
        if (open_.count(key)) kept.push_back(key);
      }
      newest_ = std::move(kept);
    }
    return node;
  }

  // A region with a bound is done with: what it says of columns that are in, free or out.
  void count_region(const Node& node, double value, const SafeBound* safe) {
    least_ = std::min(least_, value);
    if (value > out_.objective + tolerance()) return;
    mark_.assign(problem_.columns(), 0);
    for (const int j : node.in) mark_[j] = 1;
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      const int j = node.free[i];
      mark_[j] = 2;
      double &out = out_.out_margin[j], &in = out_.in_margin[j];
      in = std::min(in, safe ? std::max(value, safe->if_out[i]) : value);
      out = std::min(out, safe ? std::max(value, safe->if_in[i]) : value);
    }
    for (Index j = 0; j < problem_.columns(); ++j) {
      double &out = out_.out_margin[j], &in = out_.in_margin[j];
      if (mark_[j] == 1) out = std::min(out, value);
      if (mark_[j] == 0) in = std::min(in, value);
    }
  }
  void count_open(const Node& node) { count_region(node, node.bound, nullptr); }
  void close(const Node& node, const SafeBound* safe) {
    count_region(node, node.bound, safe);
    record_.end(node.record, NodeEnd::kClosed);
  }

  bool holds_incumbent(const Node& node) const {
    std::size_t found = 0;
    for (const int j : node.in) {
      if (!std::binary_search(out_.support.begin(), out_.support.end(), j)) return false;
      ++found;
    }
    for (const int j : node.free) {
      found += std::binary_search(out_.support.begin(), out_.support.end(), j);
    }
    return found == out_.support.size();
  }

  // G and c with the columns that are in eliminated; false if these depend on each other.
  bool reduce(const Node& node, FreeProblem& free) {
    const Index k = static_cast<Index>(node.in.size()), m = static_cast<Index>(node.free.size());
    inside_.resize(k);
    for (Index i = 0; i < k; ++i) {
      for (Index j = i; j < k; ++j) inside_.row(i)[j] = problem_.g.row(node.in[i])[node.in[j]];
    }
    if (!factorise(inside_)) return false;
    free.lam = m ? problem_.price[node.free[0]] : 0;
    free.cap = std::max<Index>(0, problem_.cap - k);
    free.base = problem_.half_yy;
    free.c.resize(m);
    free.g.resize(m);
    for (Index i = 0; i < m; ++i) {
      const double* row = problem_.g.row(node.free[i]);
      double* out = free.g.row(i);
      for (Index j = 0; j < m; ++j) out[j] = row[node.free[j]];
      free.c[i] = problem_.c[node.free[i]];
    }
    // Rows of Y = U^-T G_IF, and z = U^-T c_I: G_FF - Y'Y, c_F - Y'z, base - 1/2 z'z
    std::vector<std::vector<double>> y(k);
    for (Index r = 0; r < k; ++r) {
      const double* row = problem_.g.row(node.in[r]);
      y[r].resize(m + 1);
      for (Index j = 0; j < m; ++j) y[r][j] = row[node.free[j]];
      y[r][m] = problem_.c[node.in[r]];
      for (Index s = 0; s < r; ++s) {
        const double factor = inside_.row(s)[r];
        for (Index j = 0; j <= m; ++j) y[r][j] -= factor * y[s][j];
      }
      const double pivot = inside_.row(r)[r];
      for (Index j = 0; j <= m; ++j) y[r][j] /= pivot;
      eliminate(free.g, y[r].data(), 1.0);
      for (Index j = 0; j < m; ++j) free.c[j] -= y[r][j] * y[r][m];
      free.base += problem_.price[node.in[r]] - 0.5 * y[r][m] * y[r][m];
    }
    return true;
  }

  // u and d for all columns from those of the free ones, and the bound they give.
  bool make_evidence(const Node& node, const std::vector<double>& d, const std::vector<double>& x,
                     Evidence& evidence, SafeBound& safe) {
    const Index k = static_cast<Index>(node.in.size()), m = static_cast<Index>(node.free.size());
    evidence.columns = node.in;
    evidence.columns.insert(evidence.columns.end(), node.free.begin(), node.free.end());
    evidence.in = k;
    evidence.u.assign(k + m, 0);
    for (Index i = 0; i < m; ++i) evidence.u[k + i] = x[i];
    evidence.u_low.assign(k, 0);
    // (c - Gu)_i = 0 for those in, to more digits than u has
    std::vector<double> more(k);
    for (int round_of = 0; round_of < 4 && k; ++round_of) {
      const std::vector<double> rest = residuals_inside(problem_, evidence);
      solve_factored(inside_, rest.data(), more.data());
      for (Index i = 0; i < k; ++i) {
        const double low = evidence.u_low[i] + more[i], sum = evidence.u[i] + low;
        evidence.u_low[i] = low - (sum - evidence.u[i]);
        evidence.u[i] = sum;
      }
    }
    double least = std::numeric_limits<double>::infinity();
    if (k) {
      invert_factored(inside_, room_, inverse_);
      double trace = 0;
      for (Index i = 0; i < k; ++i) trace += inverse_.row(i)[i];
      least = 1 / trace;
    }
    static constexpr double kInside[] = {1e-2, 1e-5, 1e-8}, kShrink[] = {1e-6, 1e-3, 3e-2};
    evidence.d.resize(k + m);
    for (int attempt = 0; attempt < 3; ++attempt) {
      for (Index i = 0; i < k; ++i) evidence.d[i] = static_cast<float>(least * kInside[attempt]);
      for (Index i = 0; i < m; ++i)
        evidence.d[k + i] = static_cast<float>(d[i] * (1 - kShrink[attempt]));
      if (!is_semidefinite(problem_, evidence, room_)) continue;
      safe = safe_bound(problem_, evidence);
      return safe.value > -std::numeric_limits<double>::infinity();
    }
    return false;
  }

  // Fixes what can be, and records the bound if it was of use. True if something was fixed.
  bool fix(Node& node, RelaxationPoint& at, const Evidence& evidence, const SafeBound& safe) {
    std::vector<int> fixed_in, fixed_out;
    const double wanted = target(), plain = safe.value;
    const bool done = plain >= wanted;  // then only the incumbent's own node is still of interest
    double excluded = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      const int j = node.free[i];
      const bool inside = done && std::binary_search(out_.support.begin(), out_.support.end(), j);
      if (safe.if_in[i] >= wanted && !inside) {
        fixed_out.push_back(j);
        excluded = std::min(excluded, safe.if_in[i]);
      } else if (safe.if_out[i] >= wanted && (!done || inside)) {
        fixed_in.push_back(j);
        excluded = std::min(excluded, safe.if_out[i]);
      }
    }
    record_.add_step(node.record, evidence, fixed_in, fixed_out);
    if (fixed_in.empty() && fixed_out.empty()) return false;
    count_fixed(node, safe, fixed_in, fixed_out, excluded);
    Node next;
    next.in = node.in;
    RelaxationPoint rest;
    fixed_.assign(problem_.columns(), 0);
    for (const int j : fixed_in) fixed_[j] = 1;
    for (const int j : fixed_out) fixed_[j] = 2;
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      const int j = node.free[i];
      if (fixed_[j] == 1) {
        next.in.push_back(j);
      } else if (fixed_[j] == 0) {
        next.free.push_back(j);
        if (at.d.empty()) continue;
        rest.d.push_back(at.d[i]);
        rest.v.push_back(at.v[i]);
      }
    }
    rest.nu = at.nu;
    node.in = std::move(next.in);
    node.free = std::move(next.free);
    at = std::move(rest);
    return true;
  }

  // What is left out by each column that was fixed is a region of its own.
  void count_fixed(const Node& node, const SafeBound& safe, const std::vector<int>& fixed_in,
                   const std::vector<int>& fixed_out, double excluded) {
    least_ = std::min(least_, excluded);
    const double strict = out_.objective + tolerance();
    if (excluded > strict) return;
    fixed_.assign(problem_.columns(), 0);
    for (const int j : fixed_in) fixed_[j] = 1;
    for (const int j : fixed_out) fixed_[j] = 2;
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      const int j = node.free[i];
      const bool in = fixed_[j] == 1, out = fixed_[j] == 2;
      const double value = in ? safe.if_out[i] : out ? safe.if_in[i] : strict + 1;
      if (value > strict) continue;
      Node region;
      region.in = node.in;
      for (const int other : node.free) {
        if (other != j) region.free.push_back(other);
      }
      if (out) region.in.push_back(j);
      count_region(region, value, nullptr);
    }
  }

  // Whether a support is better than the incumbent; then it takes its place.
  void try_support(std::vector<int> support) {
    if (static_cast<Index>(support.size()) > problem_.cap) return;
    std::sort(support.begin(), support.end());
    const double value = fit(problem_, support).value;
    if (value < out_.objective - 0.25 * settings_.tolerance) {
      out_.objective = value;
      out_.support = std::move(support);
    }
  }

  void round(const Node& node) {
    std::vector<int> support = node.in;
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      if (relaxation_.share[i] > 0.5) support.push_back(node.free[i]);
    }
    try_support(std::move(support));
  }

  void process(Node& node) {
    FreeProblem free;
    Evidence evidence;
    SafeBound safe;
    RelaxationPoint at;
    at.d.assign(node.d.begin(), node.d.end());
    at.v.assign(node.v.begin(), node.v.end());
    at.nu = node.nu;
    bool inherited = !at.d.empty();
    for (int round_of = 0;; ++round_of) {
      const Index k = static_cast<Index>(node.in.size()), m = static_cast<Index>(node.free.size());
      if (k > problem_.cap) {
        node.bound = std::numeric_limits<double>::infinity();
        close(node, nullptr);
        return;
      }
      if (is_wide(node)) {
        if (!process_wide(node, evidence, safe)) return give_up(node);
        if (node.bound >= target() && !holds_incumbent(node)) {
          record_.add_step(node.record, evidence, {}, {});
          close(node, &safe);
          return;
        }
        at = RelaxationPoint();
        at.nu = node.nu;
        inherited = false;
        if (fix(node, at, evidence, safe)) continue;
        if (node.bound >= target()) {
          close(node, &safe);
          return;
        }
        divide(node, at, choose_wide(node));
        return;
      }
      if (!reduce(node, free)) return give_up(node);
      if (free.cap == 0 || m == 0 || free.cap >= m) {
        if (finish(node, free)) return;
        if (free.cap == 0 || m == 0) return give_up(node);
      }
      if (inherited && round_of == 0) {
        std::vector<double> b(m, 0.0);
        if (descent_.descend(free, at.d, at.nu, b, target()) >= target() &&
            make_evidence(node, at.d, b, evidence, safe) && safe.value >= target()) {
          node.bound = std::max(node.bound, safe.value);
          record_.add_step(node.record, evidence, {}, {});
          if (!holds_incumbent(node)) {
            close(node, &safe);
            return;
          }
        }
      }
      if (at.d.empty() && !node.warm.empty()) start_from_wide(node, free, at);
      if (settings_.enumerate) return divide_blindly(node, at);
      bool computed = !at.d.empty() || relaxation_.start(free, at);
      if (computed) {
        const double wanted = target();
        const double far = std::max(wanted - node.bound, 0.0);
        const double least = 1e-7 * std::max(std::fabs(wanted), settings_.tolerance);
        const double unit = settings_.barrier / static_cast<double>(m);
        if (!std::isfinite(far)) {  // the root: down in stages
          double mu = settings_.barrier * std::max(free.lam, 1e-3 * problem_.half_yy);
          for (int stage = 0; stage < 12 && computed; ++stage, mu *= 0.25) {
            computed = relaxation_.improve(free, at, wanted, mu, 12);
            if (!computed || relaxation_.value >= wanted) break;
            if (mu < unit * std::max(wanted - relaxation_.value, least)) break;
          }
        } else {
          const double mu = unit * std::max(far, least);
          computed = relaxation_.improve(free, at, wanted, mu, kSteps);
          if (computed && relaxation_.value < wanted &&
              wanted - relaxation_.value < 0.15 * far) {  // near: look more closely
            computed = relaxation_.improve(free, at, wanted,
                                           unit * std::max(wanted - relaxation_.value, least), 8);
          }
        }
      }
      if (!computed || !make_evidence(node, at.d, relaxation_.x, evidence, safe)) {
        if (!computed) at = RelaxationPoint();
        return divide_blindly(node, at);
      }
      round(node);
      node.bound = std::max(node.bound, safe.value);
      const bool mine = holds_incumbent(node);
      if (node.bound >= target() && !mine) {
        record_.add_step(node.record, evidence, {}, {});
        close(node, &safe);
        return;
      }
      if (fix(node, at, evidence, safe)) continue;
      if (node.bound >= target()) {
        close(node, &safe);
        return;
      }
      if (free.cap == 1) return enumerate_last(node);
      divide(node, at, choose(free));
      return;
    }
  }

  // Many free columns and a ridge: D is the ridge, less rounding, and only u is looked for, by
  // coordinate descent on the columns that are not zero in it and those that want to be.
  bool is_wide(const Node& node) const {
    return problem_.floor > 0 && static_cast<Index>(node.free.size()) > settings_.wide &&
           problem_.cap > static_cast<Index>(node.in.size());
  }

  bool process_wide(Node& node, Evidence& evidence, SafeBound& safe) {
    const Index k = static_cast<Index>(node.in.size()), m = static_cast<Index>(node.free.size());
    const Index cap = problem_.cap - k;
    const double d = static_cast<float>(problem_.floor * (1 - 1e-6));
    const double lam = problem_.price[node.free[0]];
    descent_.relax(problem_, node.in, node.free, node.warm, d, lam + (cap < m ? node.nu : 0),
                   wide_b_);
    evidence.columns = node.in;
    evidence.columns.insert(evidence.columns.end(), node.free.begin(), node.free.end());
    evidence.in = k;
    evidence.u.resize(k + m);
    evidence.u_low.assign(k, 0);
    evidence.d.assign(k + m, d);
    node.warm.clear();
    double shares = 0;
    const double whole = std::sqrt(2 * (lam + node.nu) / d);
    std::vector<int> support = node.in;
    for (Index i = 0; i < k + m; ++i) {
      const double b = wide_b_[evidence.columns[i]];
      evidence.u[i] = b;
      if (b == 0) continue;
      node.warm.emplace_back(evidence.columns[i], static_cast<float>(b));
      if (i < k) continue;
      const double share = whole > 0 ? std::min(1.0, std::fabs(b) / whole) : 1;
      shares += share;
      if (share > 0.5) support.push_back(evidence.columns[i]);
    }
    safe = safe_bound(problem_, evidence);
    if (!(safe.value > -std::numeric_limits<double>::infinity())) return false;
    node.bound = std::max(node.bound, safe.value);
    if (cap < m && node.nu > 0) {  // towards as many columns as there may be
      node.nu *= std::clamp(std::sqrt(shares / static_cast<double>(cap)), 0.8, 1.25);
    }
    try_support(std::move(support));
    return true;
  }

  // The first point where few columns are left: D the ridge, u as it was when they were many.
  void start_from_wide(const Node& node, const FreeProblem& free, RelaxationPoint& at) {
    const Index m = free.size();
    std::vector<double> b(m, 0.0);
    wide_b_.assign(problem_.columns(), 0);
    for (const auto& [j, value] : node.warm) wide_b_[j] = value;
    for (Index i = 0; i < m; ++i) b[i] = wide_b_[node.free[i]];
    at.d.assign(m, 0.9 * problem_.floor);
    at.v.resize(m);
    times(free.g, b.data(), at.v.data());
    for (Index i = 0; i < m; ++i) at.v[i] = free.c[i] - at.v[i] + at.d[i] * b[i];
  }

  Index choose_wide(const Node& node) const {
    Index best = 0;
    double most = -1;
    for (std::size_t i = 0; i < node.free.size(); ++i) {
      const double score = std::fabs(wide_b_[node.free[i]]);
      if (score > most) {
        most = score;
        best = static_cast<Index>(i);
      }
    }
    return best;
  }

  // Nothing is left to choose: all free columns are in, or all are out. False if it can't be shown.
  bool finish(Node& node, const FreeProblem& free) {
    const Index m = static_cast<Index>(node.free.size());
    if (m > 0 && free.cap >= m && free.lam > 0) return false;  // prices are left to choose by
    Node last = node;
    if (free.cap == 0) last.free.clear();
    if (free.cap >= m) {
      last.in.insert(last.in.end(), last.free.begin(), last.free.end());
      last.free.clear();
    }
    FreeProblem whole;
    if (!reduce(last, whole)) return false;
    Evidence evidence;
    SafeBound safe;
    const std::vector<double> none;
    const bool shown = make_evidence(last, none, none, evidence, safe);
    try_support(last.in);
    if (shown && safe.value >= target()) {
      node.bound = last.bound = std::max(node.bound, safe.value);
      record_.add_step(node.record, evidence, {}, {});
      close(free.cap == 0 ? last : node, nullptr);
      return true;
    }
    reduce(node, whole);  // inside_ is of this node again
    return false;
  }

  // The column whose relaxed coefficient explains most by itself. Of the rules tried (the share
  // nearest to a half, t nearest to the price, the cost of removal) it needs the fewest nodes by
  // far: put in, such a column no longer keeps D small, and left out it costs most.
  Index choose(const FreeProblem& free) const {
    Index best = 0;
    double most = -1;
    for (Index i = 0; i < free.size(); ++i) {
      const double score = free.g.row(i)[i] * relaxation_.x[i] * relaxation_.x[i];
      if (score > most) {
        most = score;
        best = i;
      }
    }
    return best;
  }

  void divide(Node& node, const RelaxationPoint& at, Index which) {
    record_.end(node.record, NodeEnd::kBranched);
    const int column = node.free[which];
    for (const bool inside : {false, true}) {
      auto child = std::make_unique<Node>();
      child->in = node.in;
      if (inside) child->in.push_back(column);
      for (std::size_t i = 0; i < node.free.size(); ++i) {
        if (static_cast<Index>(i) == which) continue;
        child->free.push_back(node.free[i]);
        if (at.d.empty()) continue;
        child->d.push_back(static_cast<float>(at.d[i]));
        child->v.push_back(static_cast<float>(at.v[i]));
      }
      child->nu = at.nu;
      child->warm = node.warm;
      child->bound = node.bound;
      child->depth = node.depth + 1;
      child->record = record_.add(node.record, column, inside);
      push(std::move(child));
    }
  }

  // Where there is no bound: the column that explains most of what those in leave over.
  void divide_blindly(Node& node, const RelaxationPoint& at) {
    FreeProblem free;
    if (node.free.empty() || !reduce(node, free)) return give_up(node);
    if (free.cap == 1) return enumerate_last(node);
    Index best = 0;
    double most = -1;
    for (Index i = 0; i < free.size(); ++i) {
      const double whole = free.g.row(i)[i];
      const double score = whole > 1e-12 ? free.c[i] * free.c[i] / whole : 0;
      if (score > most) {
        most = score;
        best = i;
      }
    }
    divide(node, at, best);
  }

  // One more column may come in: each of them is tried.
  void enumerate_last(const Node& node) {
    Node rest = node;
    FreeProblem none;  // of cap 0: nothing is left to choose
    while (!rest.free.empty()) {
      record_.end(rest.record, NodeEnd::kBranched);
      const int column = rest.free.back();
      Node child = rest;
      rest.free.pop_back();
      child.free.clear();
      child.in.push_back(column);
      child.record = record_.add(rest.record, column, true);
      if (!finish(child, none)) give_up(child);
      rest.record = record_.add(rest.record, column, false);
    }
    if (!finish(rest, none)) give_up(rest);
  }

  void give_up(const Node& node) {
    ++out_.unresolved;
    count_open(node);
  }

  static constexpr Index kSteps = 3;  // of Newton's method at a node, from its parent's point

  const ProofProblem& problem_;
  ProofSettings settings_;
  ProofResult out_;
  Relaxation relaxation_;
  std::map<Key, std::unique_ptr<Node>> open_;
  std::vector<Key> newest_;
  Index next_id_ = 0;
  double least_ = 0;  // bound on all that is done with
  double begin_ = 0;
  ProofRecord record_;
  Square inside_, room_, inverse_;
  CoordinateDescent descent_;
  std::vector<double> wide_b_;
  std::vector<char> mark_, fixed_;
};

}  // namespace ellzero
