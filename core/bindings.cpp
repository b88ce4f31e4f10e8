// Python bindings: check arrays, release the GIL, call. The other bindings*.cpp do no more than that, either.
#include "bindings_common.hpp"
#include "kernels.hpp"
#include "progress_token.hpp"

NB_MODULE(_core, module) {
    // A program may end while a page's server still holds a run: no leak of ours, and no business of its user's. Memory
    // that grows is looked for by tests/stress/soak.py.
    nb::set_leak_warnings(false);
    using namespace pixelsne;
    module.attr("instruction_set") = kernels().name;
    nb::exception<Cancelled>(module, "Cancelled");
    module.def("release_free_memory", &release_free_memory);
    nb::class_<ProgressToken>(module, "ProgressToken")
        .def(nb::init<>())
        .def("expect", &ProgressToken::expect, "units"_a)
        .def("advance", &ProgressToken::advance, "units"_a)
        .def("cancel", &ProgressToken::cancel)
        .def_prop_ro("cancelled", &ProgressToken::cancelled)
        .def_prop_ro("fraction", &ProgressToken::fraction);
    bind_project(module);
    bind_neighbors(module);
    bind_affinities(module);
    bind_forces(module);
    bind_halo(module);
    bind_descent(module);
}
