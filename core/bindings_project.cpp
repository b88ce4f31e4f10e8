// Bindings of the projection.
#include "bindings_common.hpp"
#include "project.hpp"

namespace pixelsne {
namespace {

Matrix<float> project(const Matrix<const float>& rows, const Matrix<const float>& directions, int threads) {
    require(rows.shape(1) == directions.shape(0), "rows and directions: columns of the one, rows of the other");
    auto out = new_matrix<float>(rows.shape(0), directions.shape(1));
    GilRelease released;
    project_rows(view(rows), view(directions), threads, view(out));
    return out;
}

}  // namespace

void bind_project(nb::module_& module) {
    module.def("project_rows", &project, "rows"_a.noconvert(), "directions"_a.noconvert(), "threads"_a);
}

}  // namespace pixelsne
