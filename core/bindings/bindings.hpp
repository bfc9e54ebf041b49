// What the binding files share. Arrays come in as they are (no silent conversion) and are checked
// in Python; results go out as new arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "data/quadratic.hpp"

namespace ellzero {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
nb::object to_array(const T* values, std::initializer_list<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t side : shape) count *= side;
  std::unique_ptr<T[]> copy(new T[std::max<std::size_t>(count, 1)]);  // not filled with anything
  std::copy_n(values, count, copy.get());
  nb::capsule owner(copy.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(copy.release(), shape, owner));
}

template <class T>
nb::object to_array(const std::vector<T>& values) {
  return to_array(values.data(), {values.size()});
}

// The same of a large one, which is not copied.
template <class T>
nb::object to_array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* data = kept->data();
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

class PythonInterrupt final : public Interrupt {
 protected:
  bool requested() override {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }
};

// Runs work() without the interpreter's lock; a KeyboardInterrupt ends it and propagates.
template <class Work>
auto run_released(Interrupt& interrupt, Work&& work) {
  interrupt.reset();
  try {
    nb::gil_scoped_release released;
    return work();
  } catch (const Interrupted&) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
}

inline void require(bool sound, const char* message) {
  if (!sound) throw nb::value_error(message);
}

// A report of progress to Python; empty if there is nobody to report to.
inline std::function<void(Index)> progress_of(const nb::object& callback) {
  if (callback.is_none()) return {};
  return [&callback](Index size) {
    nb::gil_scoped_acquire gil;
    callback(size);
  };
}

void bind_columns(nb::module_& m);
void bind_genotypes(nb::module_& m);
void bind_quadratic(nb::module_& m);
void bind_block_products(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_likelihood(nb::module_& m);
void bind_logit_posterior(nb::module_& m);
void bind_student_posterior(nb::module_& m);
void bind_posterior(nb::module_& m);
void bind_proof(nb::module_& m);
void bind_folds(nb::module_& m);
void bind_fold_curve(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_group_posterior(nb::module_& m);
void bind_segment(nb::module_& m);
void bind_shrinkage(nb::module_& m);
void bind_scale_mixture(nb::module_& m);

}  // namespace ellzero
