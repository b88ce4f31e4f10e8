// The Python module. All bindings*.cpp do the same three things: check arrays, release the GIL, call the core.
#include "bindings_common.hpp"
#include "kernels.hpp"
#include "progress_token.hpp"

NB_MODULE(_core, module) {
    // The server of the viewer may still hold a run when the program ends. That is no leak, and users should see
    // no warning about it. tests/stress/soak.py checks that memory does not grow.
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
