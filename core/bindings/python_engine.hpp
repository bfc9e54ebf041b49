// Engines as Python holds them: what is common to all losses, and the two kinds there are.
#pragma once

#include "bindings/bindings.hpp"
#include "engine/least_squares.hpp"
#include "engine/screened_squares.hpp"
#include "engine/sifted_squares.hpp"
#include "likelihood/likelihood.hpp"

namespace ellzero {

class PythonEngine {
 public:
  PythonEngine(const Quadratic& quadratic, int threads)
      : quadratic_(quadratic),
        context_{threads, &interrupt_},
        cache_(quadratic.cache(), context_) {}
  virtual ~PythonEngine() = default;

  virtual Engine& engine() = 0;
  // Coefficients, as one of many: costs of removal need not be exact.
  virtual Solution solve_one_of_many() { return engine().solve(context_); }
  virtual double intercept_of(const Solution& solution) const = 0;
  // What swapping the member at a position for each column would gain.
  virtual void swap_gains(Index position, double* gain) const = 0;
  // d_i of every column.
  virtual const std::vector<double>& d() const = 0;
  // Those that are no more than `most`, and perhaps others.
  virtual std::vector<double> small_d(double /*most*/) const { return d(); }
  // What the insertion of each column would gain.
  virtual void insertion_gains(double* gain) { engine().insertion_gains(gain); }

  template <class Work>
  auto released(Work&& work) {
    return run_released(interrupt_, work);
  }

  void require_columns(const Vector<Index>& which) const {
    for (std::size_t b = 0; b < which.size(); ++b) require_column(which(b));
  }
  void require_column(Index j) const {
    require(j >= 0 && j < quadratic_.columns(), "no such column");
  }

  const Quadratic& quadratic_;
  PythonInterrupt interrupt_;
  Context context_;
  const GramUser cache_;
};

class LeastSquaresEngine final : public PythonEngine {
 public:
  LeastSquaresEngine(const Quadratic& quadratic, const Vector<double>& ridge, int threads)
      : PythonEngine(quadratic, threads),
        least_squares_(quadratic, cache_,
                       std::vector<double>(ridge.data(), ridge.data() + ridge.size())) {
    require(ridge.size() == 1 || static_cast<Index>(ridge.size()) == quadratic.columns(),
            "ridge: one number, or one per column");
  }

  Engine& engine() override { return least_squares_; }
  double intercept_of(const Solution&) const override { return quadratic_.mean_y; }
  void swap_gains(Index position, double* gain) const override {
    least_squares_.swap_gains(position, gain);
  }
  const std::vector<double>& d() const override { return least_squares_.d(); }

  LeastSquares least_squares_;
};

class ScreenedEngine final : public PythonEngine {
 public:
  ScreenedEngine(const Quadratic& quadratic, const Vector<double>& ridge, int threads)
      : PythonEngine(quadratic, threads) {
    require(ridge.size() == 1 || static_cast<Index>(ridge.size()) == quadratic.columns(),
            "ridge: one number, or one per column");
    require(ScreenedSquares::possible(quadratic), "sparse columns");
    std::vector<double> copy(ridge.data(), ridge.data() + ridge.size());
    released([&] {
      screened_ = std::make_unique<ScreenedSquares>(quadratic, context_, std::move(copy));
      return 0;
    });
  }

  Engine& engine() override { return *screened_; }
  double intercept_of(const Solution&) const override { return quadratic_.mean_y; }
  void swap_gains(Index position, double* gain) const override {
    screened_->on_all().swap_gains(position, gain);
  }
  const std::vector<double>& d() const override { return screened_->on_all().d(); }
  std::vector<double> small_d(double) const override { return screened_->d_of_active(); }

  std::unique_ptr<ScreenedSquares> screened_;
};

class SiftedEngine final : public PythonEngine {
 public:
  SiftedEngine(const Quadratic& quadratic, const Vector<double>& ridge, int threads)
      : PythonEngine(quadratic, threads) {
    require(ridge.size() == 1 || static_cast<Index>(ridge.size()) == quadratic.columns(),
            "ridge: one number, or one per column");
    require(quadratic.has_float_grams(), "dense columns");
    std::vector<double> copy(ridge.data(), ridge.data() + ridge.size());
    released([&] {
      sifted_ = std::make_unique<SiftedSquares>(quadratic, context_, std::move(copy));
      return 0;
    });
  }

  Engine& engine() override { return *sifted_; }
  double intercept_of(const Solution&) const override { return quadratic_.mean_y; }
  void swap_gains(Index position, double* gain) const override {
    sifted_->on_all().swap_gains(position, gain);
  }
  const std::vector<double>& d() const override { return sifted_->on_all().d(); }
  std::vector<double> small_d(double most) const override { return sifted_->small_d(most); }
  void insertion_gains(double* gain) override { sifted_->on_all().insertion_gains(gain); }

  std::unique_ptr<SiftedSquares> sifted_;
};

class LikelihoodEngine final : public PythonEngine {
 public:
  LikelihoodEngine(const Rows& rows, const Vector<double>& weights, double ridge, int threads)
      : PythonEngine(rows.quadratic(), threads) {
    require(static_cast<Index>(weights.size()) == rows.rows(), "a weight for every row");
    std::vector<double> copy(weights.data(), weights.data() + weights.size());
    released([&] {
      likelihood_ = std::make_unique<Likelihood>(rows, std::move(copy), ridge, context_);
      return 0;
    });
  }

  Engine& engine() override { return *likelihood_; }
  Solution solve_one_of_many() override { return likelihood_->solve_quickly(); }
  double intercept_of(const Solution& solution) const override { return solution.intercept; }
  void swap_gains(Index position, double* gain) const override {
    likelihood_->swap_gains(position, gain);
  }
  const std::vector<double>& d() const override { return likelihood_->d(); }

  std::unique_ptr<Likelihood> likelihood_;
};

}  // namespace ellzero
