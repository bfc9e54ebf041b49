#include "base/simd.hpp"
#include "bindings/bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() =
      "The compiled core of ellzero: columns and their quadratics, the engine that flips columns, "
      "segmentation, rules of shrinkage.";
  // For tests: whether there are eight lanes, after saying whether they are to be taken.
  m.def("take_wide_lanes", [](bool wide) {
    ellzero::takes_wide_lanes = wide && ellzero::has_wide_lanes();
    return ellzero::has_wide_lanes();
  });
  ellzero::bind_columns(m);
  ellzero::bind_genotypes(m);
  ellzero::bind_quadratic(m);
  ellzero::bind_block_products(m);
  ellzero::bind_engine(m);
  ellzero::bind_likelihood(m);
  ellzero::bind_posterior(m);
  ellzero::bind_group_posterior(m);
  ellzero::bind_logit_posterior(m);
  ellzero::bind_student_posterior(m);
  ellzero::bind_proof(m);
  ellzero::bind_folds(m);
  ellzero::bind_fold_curve(m);
  ellzero::bind_groups(m);
  ellzero::bind_segment(m);
  ellzero::bind_shrinkage(m);
  ellzero::bind_scale_mixture(m);
}
