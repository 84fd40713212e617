#include "calls/backend_conformance.hpp"

#include <cstdlib>
#include <string>

#include "calls/directory_backend/directory_backend.hpp"
#include "calls/memory_backend/memory_backend.hpp"
#include "temporary_folder.hpp"

namespace halcyon::calls {
namespace {

/// What a program that started this one handed over, or null.
const char* from_parent(const std::string& backend) {
    const char* const text = std::getenv(handed_over);
    return text != nullptr && std::string(text).rfind(backend + ":", 0) == 0 ? text + backend.size() + 1 : nullptr;
}

constinit memory_backend memory;
constinit memory_backend small_memory;

file_backend& memory_of_process() {
    const char* const given = from_parent("memory");
    EXPECT_GE(memory.start(given != nullptr ? std::atoi(given) : -1), 0);
    return memory;
}

file_backend& small_memory_of_process() {
    EXPECT_GE(small_memory.start(-1, 4 << 20), 0);
    return small_memory;
}

std::string folder_of_process() {
    if (const char* const given = from_parent("directory")) return given;
    static const tests::temporary_folder folder;
    return folder.path().string();
}

file_backend& directory_of_process() {
    static directory_backend backend(folder_of_process());
    return backend;
}

INSTANTIATE_TEST_SUITE_P(
    all, backend_conformance,
    ::testing::Values(backend_offer{.name = "memory",
                                    .backend = memory_of_process,
                                    .hand_over = [] { return "memory:" + std::to_string(memory.start(-1)); },
                                    .small = small_memory_of_process},
                      backend_offer{.name = "directory",
                                    .backend = directory_of_process,
                                    .hand_over = [] { return "directory:" + folder_of_process(); }}),
    name_of_offer);

}  // namespace
}  // namespace halcyon::calls
