#include "parallel_for.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace pixelsne {
namespace {

// One run_chunks call. It lives on the caller's stack. No helper may touch it after the caller has removed it from the
// list and seen helpers_inside == 0.
struct Job {
    const ChunkBody body;
    const std::size_t chunks;
    const int max_helpers;
    int helpers_joined = 0;              // guarded by the pool's mutex
    std::atomic<int> helpers_inside{0};  // changed under the pool's mutex
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;  // guarded by the pool's mutex

    Job(ChunkBody body, std::size_t chunks, int max_helpers) : body(body), chunks(chunks), max_helpers(max_helpers) {}
};

// Spins for a moment before a thread sleeps. The passes of an iteration follow each other within microseconds, which is
// less than falling asleep and waking up take.
template <class Condition>
void spin_while(Condition&& condition) {
    constexpr int kSpins = 2000;
    for (int spin = 0; spin < kSpins && condition(); ++spin) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

class ThreadPool {
public:
    void run(Job& job) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            while (static_cast<int>(workers_.size()) < job.max_helpers) {
                try {
                    workers_.emplace_back([this] { serve(); });
                } catch (const std::system_error&) {
                    break;  // the system has no more threads; continue with fewer helpers
                }
            }
            jobs_.push_back(&job);
            posted_.fetch_add(1);
        }
        wake_.notify_all();
        work_on(job);
        spin_while([&] { return job.helpers_inside.load() != 0; });
        std::unique_lock<std::mutex> lock(mutex_);
        jobs_.remove(&job);
        finished_.wait(lock, [&] { return job.helpers_inside.load() == 0; });
        if (job.error) std::rethrow_exception(job.error);
    }

private:
    void work_on(Job& job) {
        for (std::size_t chunk; (chunk = job.next.fetch_add(1)) < job.chunks;) {
            try {
                job.body(chunk);
            } catch (...) {
                job.next.store(job.chunks);
                std::lock_guard<std::mutex> lock(mutex_);
                if (!job.error) job.error = std::current_exception();
            }
        }
    }

    Job* open_job() {
        for (Job* job : jobs_) {
            if (job->helpers_joined < job->max_helpers && job->next.load() < job->chunks) return job;
        }
        return nullptr;
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            Job* job = nullptr;
            if ((job = open_job()) == nullptr) {
                const std::uint64_t seen = posted_.load();
                lock.unlock();
                spin_while([&] { return posted_.load() == seen; });
                lock.lock();
            }
            wake_.wait(lock, [&] { return (job = open_job()) != nullptr; });
            ++job->helpers_joined;
            ++job->helpers_inside;
            lock.unlock();
            work_on(*job);
            lock.lock();
            if (--job->helpers_inside == 0) finished_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable finished_;
    std::list<Job*> jobs_;
    std::atomic<std::uint64_t> posted_{0};  // number of jobs so far
    std::vector<std::thread> workers_;
};

// The pool is never destroyed: its threads sleep until the process ends. A forked child has none of its parent's
// threads and may have inherited a locked mutex, so it abandons the pool and creates its own.
std::atomic<ThreadPool*> current_pool{nullptr};

#ifndef _WIN32
[[maybe_unused]] const int fork_hook = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
#endif

ThreadPool& thread_pool() {
    ThreadPool* pool = current_pool.load();
    if (pool == nullptr) {
        auto* created = new ThreadPool;
        if (current_pool.compare_exchange_strong(pool, created)) {
            pool = created;
        } else {
            delete created;  // another thread was faster; this pool is unused
        }
    }
    return *pool;
}

}  // namespace

void run_chunks(std::size_t chunks, int threads, ChunkBody body) {
    const int helpers =
        static_cast<int>(std::min<std::size_t>(chunks, static_cast<std::size_t>(std::max(threads, 1)))) - 1;
    if (helpers <= 0) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) body(chunk);
        return;
    }
    Job job(body, chunks, helpers);
    thread_pool().run(job);
}

}  // namespace pixelsne
