// Bindings of the reduction: centering, products of columns, projection.
#include "bindings_common.hpp"
#include "covariance.hpp"
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

// Numbers of any type, (n, d).
using Numbers = nb::ndarray<nb::ro, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Calls use(ArrayView<const Number>) with the type of the numbers. Returns false if it is none of Types.
template <class... Types, class Use>
bool with_type_of(const Numbers& values, Use&& use) {
    const auto try_type = [&](auto number) {
        using Number = decltype(number);
        if (values.dtype() != nb::dtype<Number>()) return false;
        use(ArrayView<const Number>{static_cast<const Number*>(values.data()), values.shape(0), values.shape(1)});
        return true;
    };
    return (try_type(Types{}) || ...);
}

Matrix<float> center(const Numbers& values, double unit, const Vector<const double>& mean, double scale, double limit,
                     int threads) {
    require(values.shape(1) == mean.shape(0), "values and mean: the same number of columns");
    auto out = new_matrix<float>(values.shape(0), values.shape(1));
    const Centering centering{unit, mean.data(), scale, limit};
    bool known = false;
    {
        GilRelease released;
        known = with_type_of<float, double, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                             std::int32_t, std::uint64_t, std::int64_t, bool>(
            values, [&](auto numbers) { center_rows(numbers, centering, threads, view(out)); });
    }
    require(known, "values: numbers of 8 to 64 bits, but not float16");
    return out;
}

void add_column_products(const Matrix<const float>& rows, const Matrix<double>& sums, int threads) {
    require(sums.shape(0) == rows.shape(1) && sums.shape(1) == rows.shape(1), "sums: (columns, columns)");
    GilRelease released;
    add_products(view(rows), threads, view(sums));
}

}  // namespace

void bind_project(nb::module_& module) {
    module.def("center_rows", &center, "values"_a.noconvert(), "unit"_a, "mean"_a.noconvert(), "scale"_a, "limit"_a,
               "threads"_a);
    module.def("add_products", &add_column_products, "rows"_a.noconvert(), "sums"_a.noconvert(), "threads"_a);
    module.def("project_rows", &project, "rows"_a.noconvert(), "directions"_a.noconvert(), "threads"_a);
}

}  // namespace pixelsne
