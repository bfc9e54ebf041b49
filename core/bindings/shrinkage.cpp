// Shrinkage rules as Python sees them: arrays in, new arrays out.
#include "base/mills.hpp"
#include "bindings/bindings.hpp"
#include "shrinkage/laplace_means.hpp"
#include "shrinkage/piecewise_rule.hpp"

namespace ellzero {
namespace {

// An array to be filled, without a pass that clears it first.
struct Fresh {
  explicit Fresh(std::size_t count) : values(new double[count + !count]), count(count) {}
  nb::object release() {
    nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(values.release(), {count}, owner));
  }
  std::unique_ptr<double[]> values;
  std::size_t count;
};

}  // namespace

void bind_shrinkage(nb::module_& m) {
  nb::class_<LaplaceMeans>(m, "LaplaceMeans")
      .def(nb::init<double>())
      .def_prop_ro("series_end", &LaplaceMeans::series_end)
      .def(
          "terms",
          [](const LaplaceMeans& slab, const Vector<double>& u) {
            Fresh scale(u.size()), total(u.size()), zeroth(u.size()), first(u.size());
            {
              nb::gil_scoped_release released;
              slab.terms(u.data(), static_cast<std::ptrdiff_t>(u.size()), scale.values.get(),
                         total.values.get(), zeroth.values.get(), first.values.get());
            }
            return nb::make_tuple(scale.release(), total.release(), zeroth.release(),
                                  first.release());
          },
          nb::arg("u").noconvert())
      .def(
          "variance",
          [](const LaplaceMeans& slab, const Vector<double>& u) {
            Fresh out(u.size());
            {
              nb::gil_scoped_release released;
              slab.variance(u.data(), static_cast<std::ptrdiff_t>(u.size()), out.values.get());
            }
            return out.release();
          },
          nb::arg("u").noconvert());

  m.def("mills_sequence",
        [](double a, int count, double unit) { return to_array(mills_sequence(a, count, unit)); });

  m.def(
      "piecewise_rule",
      [](const Vector<double>& x, const Vector<double>& knots, const Vector<double>& slopes,
         const Vector<double>& shifts) {
        require(knots.size() == 3 && slopes.size() == 4 && shifts.size() == 4,
                "three knots, four slopes, four shifts");
        PiecewiseRule rule;
        std::copy_n(knots.data(), 3, rule.knot);
        std::copy_n(slopes.data(), 4, rule.slope);
        std::copy_n(shifts.data(), 4, rule.shift);
        Fresh out(x.size());
        {
          nb::gil_scoped_release released;
          apply(rule, x.data(), static_cast<std::ptrdiff_t>(x.size()), out.values.get());
        }
        return out.release();
      },
      nb::arg("x").noconvert(), nb::arg("knots"), nb::arg("slopes"), nb::arg("shifts"));
}

}  // namespace ellzero
