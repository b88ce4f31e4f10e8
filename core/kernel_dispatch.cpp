// Chooses the table of kernels once, on first use.
#include "kernels.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace pixelsne {

namespace baseline {
extern const Kernels table;
}
#ifdef PIXELSNE_WITH_X86_VECTORS
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

#ifdef PIXELSNE_WITH_X86_VECTORS
bool processor_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool processor_has_avx512() {
    return processor_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

const Kernels& choose() {
    const char* variable = std::getenv("PIXELSNE_SIMD");
    const std::string requested = variable == nullptr ? "" : variable;
    if (requested == "baseline") return baseline::table;
#ifdef PIXELSNE_WITH_X86_VECTORS
    if ((requested.empty() || requested == "avx512") && processor_has_avx512()) return avx512::table;
    if ((requested.empty() || requested == "avx2") && processor_has_avx2()) return avx2::table;
#endif
    if (requested.empty()) return baseline::table;
    throw std::invalid_argument("PIXELSNE_SIMD=" + requested +
                                ": not an instruction set of this processor and build; use baseline, avx2 or "
                                "avx512, or leave it unset");
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace pixelsne
