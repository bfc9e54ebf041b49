// What a chain has to remember to go on later as if it had never stopped: a few numbers by name.
//
// Factors and scores hang on the path that led to them, in their last bits. So a chain is made anew
// from its state now and then, at fixed iterations (Schedule::is_boundary), whether or not anybody
// stops there: one that goes on from a state that was kept does the same, and has the same bits.
//
// A chain says what it remembers in one place, for writing and reading alike:
//
//   template <class Fields>
//   void remember(Fields& fields) {
//     fields("random", random_);
//     fields("iterations", iterations_);
//     model_.remember(fields);
//   }
//
// Whatever is not named there is lost at the next boundary. What is averaged within a draw need not
// be named: boundaries are between draws.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/kernels.hpp"
#include "base/random.hpp"

namespace ellzero {

struct ChainState {
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::int64_t>> integers;

  bool empty() const { return numbers.empty() && integers.empty(); }
};

class StateWriter {
 public:
  static constexpr bool kReads = false;

  explicit StateWriter(ChainState& state) : state_(state) { state_ = {}; }

  void operator()(const char* name, double value) { state_.numbers[name] = {value}; }
  void operator()(const char* name, Index value) { state_.integers[name] = {value}; }
  void operator()(const char* name, const std::vector<double>& values) {
    state_.numbers[name] = values;
  }
  // Of any length.
  void sums(const char* name, const std::vector<double>& values) { (*this)(name, values); }
  void operator()(const char* name, const Random& random) {
    for (const std::uint64_t word : random.words()) {
      state_.integers[name].push_back(static_cast<std::int64_t>(word));
    }
  }
  // Different numbers from 0 to below `limit`.
  void indices(const char* name, const std::vector<Index>& values, Index) {
    state_.integers[name].assign(values.begin(), values.end());
  }

 private:
  ChainState& state_;
};

// Refuses what is missing, of another length or out of range.
class StateReader {
 public:
  static constexpr bool kReads = true;

  explicit StateReader(const ChainState& state) : state_(state) {}

  void operator()(const char* name, double& value) { value = found(state_.numbers, name, 1)[0]; }
  void operator()(const char* name, Index& value) {
    value = static_cast<Index>(found(state_.integers, name, 1)[0]);
  }
  // As many as there are already.
  void operator()(const char* name, std::vector<double>& values) {
    values = found(state_.numbers, name, static_cast<Index>(values.size()));
  }
  void sums(const char* name, std::vector<double>& values) {
    values = found(state_.numbers, name, kAny);
  }
  void operator()(const char* name, Random& random) {
    std::array<std::uint64_t, 4> words;
    const auto& own = found(state_.integers, name, 4);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint64_t>(own[i]);
    random.set_words(words);
  }
  void indices(const char* name, std::vector<Index>& values, Index limit) {
    const auto& own = found(state_.integers, name, kAny);
    values.assign(own.begin(), own.end());
    std::vector<Index> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    if (!distinct || (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= limit))) {
      refuse(name);
    }
  }

 private:
  static constexpr Index kAny = -1;

  template <class Values>
  static const Values& found(const std::map<std::string, Values>& all, const char* name,
                             Index length) {
    const auto at = all.find(name);
    if (at == all.end()) refuse(name);
    if (length != kAny && static_cast<Index>(at->second.size()) != length) refuse(name);
    return at->second;
  }
  [[noreturn]] static void refuse(const char* name) {
    throw std::invalid_argument(std::string("not the state of such a chain: ") + name);
  }

  const ChainState& state_;
};

}  // namespace ellzero
