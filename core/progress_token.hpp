// Shared by a long call and Python while the call runs: the progress, and a request to cancel.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace pixelsne {

struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled") {}
};

class ProgressToken {
public:
    // Announces more work, in units of the caller's choice.
    void expect(std::uint64_t units) { expected_.fetch_add(units); }

    // Reports finished work. Throws Cancelled after cancel().
    void advance(std::uint64_t units) {
        throw_if_cancelled();
        done_.fetch_add(units, std::memory_order_relaxed);
    }

    void throw_if_cancelled() const {
        if (cancelled_.load(std::memory_order_relaxed)) throw Cancelled();
    }

    void cancel() { cancelled_.store(true); }
    bool cancelled() const { return cancelled_.load(); }

    double fraction() const {
        const auto expected = expected_.load();
        return expected == 0 ? 0.0 : static_cast<double>(done_.load()) / static_cast<double>(expected);
    }

private:
    std::atomic<std::uint64_t> expected_{0};
    std::atomic<std::uint64_t> done_{0};
    std::atomic<bool> cancelled_{false};
};

}  // namespace pixelsne
