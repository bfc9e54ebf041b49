// Branch and bound as Python sees it.
#include "bindings/bindings.hpp"
#include "proof/tree.hpp"

#include <nanobind/stl/vector.h>

namespace ellzero {
namespace {

std::vector<int> to_columns(const Vector<Index>& which, Index columns) {
  std::vector<int> out;
  for (std::size_t i = 0; i < which.size(); ++i) {
    require(which(i) >= 0 && which(i) < columns, "no such column");
    out.push_back(static_cast<int>(which(i)));
  }
  return out;
}

class PythonProof {
 public:
  // The matrix of products is kept by the caller for as long as this lives.
  PythonProof(const Matrix<double>& gram, const Vector<double>& c, double half_yy,
              const Vector<double>& price, Index cap, double floor) {
    const Index p = static_cast<Index>(c.size());
    require(static_cast<Index>(gram.shape(0)) == p && static_cast<Index>(gram.shape(1)) == p &&
                static_cast<Index>(price.size()) == p,
            "as many rows and columns of products, and prices, as columns");
    require(p < 2 || gram.stride(1) == 1, "rows that lie together");
    problem_.g = {gram.data(), static_cast<Index>(gram.stride(0))};
    problem_.floor = floor;
    problem_.c.assign(c.data(), c.data() + p);
    problem_.half_yy = half_yy;
    problem_.price.assign(price.data(), price.data() + p);
    problem_.cap = cap;
  }

  // What it found is there also if it was interrupted.
  void run(const Vector<Index>& in, const Vector<Index>& free, const Vector<Index>& support,
           double objective, double tolerance, double gap, double seconds, Index max_nodes,
           Index max_open, double record_bytes, double barrier, double nu, Index wide,
           bool enumerate, const nb::object& progress) {
    const Index p = problem_.columns();
    ProofSettings settings;
    settings.objective = objective;
    settings.support = to_columns(support, p);
    settings.tolerance = tolerance;
    settings.gap = gap;
    settings.seconds = seconds;
    settings.max_nodes = max_nodes;
    settings.max_open = max_open;
    settings.record_bytes = record_bytes;
    settings.barrier = barrier;
    settings.nu = nu;
    settings.wide = wide;
    settings.enumerate = enumerate;
    PythonInterrupt interrupt;
    const Context context{1, &interrupt};
    ProofProgress report;
    if (!progress.is_none()) {
      report = [&progress](Index nodes, double bound, double best) {
        nb::gil_scoped_acquire gil;
        progress(nodes, bound, best);
      };
    }
    run_released(interrupt, [&] {
      ProofTree tree(problem_, settings);
      try {
        tree.run(to_columns(in, p), to_columns(free, p), context, report);
      } catch (...) {
        result_ = tree.take();
        throw;
      }
      result_ = tree.take();
      if (result_.interrupted) throw Interrupted();
      return 0;
    });
  }

  Fit fit_support(const Vector<Index>& support) const {
    return fit(problem_, to_columns(support, problem_.columns()));
  }

  ProofProblem problem_;
  ProofResult result_;
};

}  // namespace

void bind_proof(nb::module_& m) {
  nb::enum_<NodeEnd>(m, "NodeEnd")
      .value("OPEN", NodeEnd::kOpen)
      .value("CLOSED", NodeEnd::kClosed)
      .value("BRANCHED", NodeEnd::kBranched);
  nb::class_<ProofStep>(m, "ProofStep")
      .def_prop_ro("columns", [](const ProofStep& s) { return to_array(s.columns); })
      .def_ro("n_in", &ProofStep::in)
      .def_prop_ro("d", [](const ProofStep& s) { return to_array(s.d); })
      .def_prop_ro("u", [](const ProofStep& s) { return to_array(s.u); })
      .def_prop_ro("u_low", [](const ProofStep& s) { return to_array(s.u_low); })
      .def_prop_ro("fixed_in", [](const ProofStep& s) { return to_array(s.fixed_in); })
      .def_prop_ro("fixed_out", [](const ProofStep& s) { return to_array(s.fixed_out); });
  nb::class_<ProofNode>(m, "ProofNode")
      .def_ro("parent", &ProofNode::parent)
      .def_ro("column", &ProofNode::column)
      .def_ro("inside", &ProofNode::inside)
      .def_ro("end", &ProofNode::end)
      .def_ro("steps", &ProofNode::steps);
  nb::class_<Fit>(m, "ProofFit")
      .def_prop_ro("b", [](const Fit& f) { return to_array(f.b); })
      .def_ro("value", &Fit::value);
  nb::class_<PythonProof>(m, "Proof")
      .def(nb::init<const Matrix<double>&, const Vector<double>&, double, const Vector<double>&,
                    Index, double>(),
           nb::arg("gram").noconvert(), nb::arg("c").noconvert(), nb::arg("half_yy"),
           nb::arg("price").noconvert(), nb::arg("cap"), nb::arg("floor"), nb::keep_alive<1, 2>())
      .def("run", &PythonProof::run, nb::kw_only(), nb::arg("inside").noconvert(),
           nb::arg("free").noconvert(), nb::arg("support").noconvert(), nb::arg("objective"),
           nb::arg("tolerance"), nb::arg("gap"), nb::arg("seconds"), nb::arg("max_nodes"),
           nb::arg("max_open"), nb::arg("record_bytes"), nb::arg("barrier"), nb::arg("nu"),
           nb::arg("wide"), nb::arg("enumerate"), nb::arg("progress").none())
      .def("fit", &PythonProof::fit_support, nb::arg("support").noconvert())
      .def_prop_ro("bound", [](const PythonProof& p) { return p.result_.bound; })
      .def_prop_ro("objective", [](const PythonProof& p) { return p.result_.objective; })
      .def_prop_ro("support", [](const PythonProof& p) { return to_array(p.result_.support); })
      .def_prop_ro("nodes", [](const PythonProof& p) { return p.result_.nodes; })
      .def_prop_ro("open", [](const PythonProof& p) { return p.result_.open; })
      .def_prop_ro("unresolved", [](const PythonProof& p) { return p.result_.unresolved; })
      .def_prop_ro("newton_steps", [](const PythonProof& p) { return p.result_.newton_steps; })
      .def_prop_ro("recorded", [](const PythonProof& p) { return p.result_.recorded; })
      .def_prop_ro("in_margin", [](const PythonProof& p) { return to_array(p.result_.in_margin); })
      .def_prop_ro("out_margin",
                   [](const PythonProof& p) { return to_array(p.result_.out_margin); })
      .def_prop_ro("record", [](const PythonProof& p) { return p.result_.record; });
}

}  // namespace ellzero
