#include <cstdlib>
#include <new>

#include "configuration.hpp"

namespace {
int allocations = 0;
}

// Counts what this test program allocates.
void* operator new(size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
// Where it is inlined, GCC sees free() behind new.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace halcyon::offload {
namespace {

TEST(allocation, finding_and_evaluating_a_variable_allocates_nothing) {
    const model m = read(full_configuration());
    const int before = allocations;
    int64_t bytes = 0;
    for (const char* name : {"theta", "fields/qv", "fields/fast/w", "z", "swarm/position", "step"}) {
        const auto shape = shape_of(m, *m.find_variable(name), {3, 4, 0});
        bytes += shape.ok() ? shape->bytes : -1'000'000'000;
    }
    EXPECT_EQ(allocations, before);
    EXPECT_GT(bytes, 0);
}

TEST(allocation, a_failure_does_allocate) {
    const model m = read(full_configuration());
    const int before = allocations;
    EXPECT_FALSE(shape_of(m, *m.find_variable("theta"), {9, 10, 0}).ok());
    EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace halcyon::offload
