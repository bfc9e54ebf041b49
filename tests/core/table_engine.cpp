// An engine that knows the energy of every subset of a few units from a table, and a program that
// runs each driver on it: the drivers know nothing of least squares.
//
// Standard input: the number of units p, the 2^p energies by the subset's bits, and then commands,
// one per line. Each command prints the supports that its driver finds, as bits, with numbers
// beside them.
#include <iostream>
#include <sstream>
#include <string>

#include "search/fold_search.hpp"
#include "search/frontier.hpp"
#include "search/sbr.hpp"
#include "search/sbr_trail.hpp"

using namespace ellzero;

class TableEngine final : public Engine {
 public:
  TableEngine(Index p, const std::vector<double>& energies)
      : energies_(energies), excluded_(p, 0) {}

  Index units() const override { return static_cast<Index>(excluded_.size()); }
  Index size() const override { return static_cast<Index>(members_.size()); }
  const std::vector<Index>& members() const override { return members_; }
  bool contains(Index unit) const override { return position(unit) < size(); }
  double energy() const override { return energies_[code()]; }
  double loss() const override { return energy(); }
  double rounding() const override { return 1e-12 * energies_[0]; }

  void insertion_gains(double* gain) const override {
    for (Index i = 0; i < units(); ++i) {
      gain[i] = contains(i) || excluded_[i] ? -1 : energy() - energies_[code() | bit(i)];
    }
  }
  Insertion best_insertion() const override {
    std::vector<double> gain(units());
    insertion_gains(gain.data());
    Insertion best;
    for (Index i = 0; i < units(); ++i) {
      if (gain[i] >= 0 && gain[i] > best.gain) best = {i, gain[i], false};
    }
    return best;
  }
  double removal_cost(Index position) const override {
    return energies_[code() & ~bit(members_[position])] - energy();
  }
  Swap best_swap(const Limits& limits, const Context&) const override {
    Swap best;
    for (Index r = 0; r < size(); ++r) {
      if (limits.is_forced(members_[r])) continue;
      for (Index i = 0; i < units(); ++i) {
        if (contains(i) || excluded_[i]) continue;
        const double gain = energy() - energies_[(code() & ~bit(members_[r])) | bit(i)];
        if (gain > best.gain) best = {r, i, gain};
      }
    }
    return best;
  }

  bool can_insert(Index unit) override { return !contains(unit) && !excluded_[unit]; }
  bool insert(Index unit) override {
    if (!can_insert(unit)) return false;
    members_.push_back(unit);
    return true;
  }
  void remove(Index position) override { members_.erase(members_.begin() + position); }
  void move_to(const std::vector<Index>& target) override { members_ = target; }
  void start_at(const std::vector<Index>& target) override { members_ = target; }
  void refresh() override {}
  void exclude(Index unit) override { excluded_[unit] = 1; }
  void allow(Index unit) override { excluded_[unit] = 0; }

  std::unique_ptr<State> save() const override {
    auto place = std::make_unique<Place>();
    place->members = members_;
    return place;
  }
  void restore(const State& state) override { members_ = static_cast<const Place&>(state).members; }

  Solution solve(const Context&) const override {
    Solution solution;
    solve_at_once(solution);
    solution.removal_cost.assign(size(), 0.0);
    sort_by_column(solution);
    return solution;
  }
  bool solve_at_once(Solution& solution) const override {
    solution = {members_, std::vector<double>(size(), 1.0), {}, 2 * energy(), 0};
    return true;
  }

 private:
  struct Place : State {
    std::vector<Index> members;
  };
  static std::size_t bit(Index unit) { return std::size_t{1} << unit; }
  std::size_t code() const {
    std::size_t code = 0;
    for (const Index unit : members_) code |= bit(unit);
    return code;
  }

  const std::vector<double>& energies_;
  std::vector<Index> members_;
  std::vector<char> excluded_;
};

std::size_t code_of(const std::vector<Index>& support) {
  std::size_t code = 0;
  for (const Index unit : support) code |= std::size_t{1} << unit;
  return code;
}

int main() {
  Index p;
  std::cin >> p;
  std::vector<double> energies(std::size_t{1} << p);
  for (double& energy : energies) std::cin >> energy;
  std::cin.ignore();
  std::cout.precision(17);
  const Context context;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string driver;
    double lam = 0;
    Index max_size = 0, forced = -1;
    words >> driver >> lam >> max_size >> forced;
    TableEngine engine(p, energies);
    Limits limits{{}, max_size};
    std::vector<Index> start;
    if (forced >= 0) {
      limits.forced.assign(p, 0);
      limits.forced[forced] = 1;
      start = {forced};
      engine.move_to(start);
    }
    if (driver == "sbr") {
      run_sbr(engine, lam, limits, context);
      std::cout << code_of(engine.members()) << " ";
    } else if (driver == "path") {
      for (const SbrStop& stop : sbr_path(engine, limits, context).stops) {
        std::cout << code_of(stop.support) << " " << stop.lam_low << " " << stop.lam_high << " ";
      }
    } else if (driver == "frontier" || driver == "closed") {
      Frontier frontier(engine, limits.forced, driver == "frontier");
      frontier.grow(max_size, context);
      for (std::size_t k = frontier.least_size(); k < frontier.models().size(); ++k) {
        std::cout << code_of(frontier.models()[k].support) << " ";
      }
    } else if (driver == "trail") {
      SbrTrail trail(engine, limits);
      trail.restart(max_size);
      while (trail.next(context, {})) {
        std::cout << code_of(engine.members()) << " " << trail.low() << " ";
      }
    } else if (driver == "fold" || driver == "fold_sbr") {
      std::unique_ptr<FoldSearch> search;
      if (driver == "fold") {
        search = std::make_unique<FrontierSearch>(engine, start);
      } else {
        search = std::make_unique<SbrSearch>(engine, start);
      }
      search->extend(max_size, nullptr);
      search->go_on(context, {});
      for (const Solution& model : search->found(context).models) {
        std::cout << code_of(model.support) << " ";
      }
    }
    std::cout << std::endl;
  }
}
