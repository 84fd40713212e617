// Functions of libraries that come and go.
#include "calls/state/real_function.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace halcyon::calls {
namespace {

std::atomic<int> asked{0};

constexpr const char* module_path = HALCYON_TEST_MODULE;
constexpr const char* in_module = "put_from_module";

void* load() {
    void* const module = dlopen(module_path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(module, nullptr) << dlerror();
    return module;
}

TEST(real_function_test, is_looked_for_while_another_thread_loads_libraries) {
    std::atomic<bool> done{false};
    std::atomic<int> loaded{0};
    std::thread other([&] {
        while (!done) {
            dlclose(load());
            ++loaded;
        }
    });
    int searches = 0;
    while (searches < 2000 || loaded < 100) {
        EXPECT_EQ(find_real_function("a_function_that_nobody_has"), nullptr);
        ++searches;
    }
    done = true;
    other.join();
}

TEST(real_function_test, is_looked_for_once_where_there_is_none) {
    static constinit library_symbol missing("a_function_that_nobody_has");
    EXPECT_EQ(missing.address(), nullptr);
    asked = 0;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(missing.address(), nullptr);
    EXPECT_EQ(asked, 0);
}

TEST(real_function_test, is_found_when_its_library_is_loaded_later_and_again) {
    static constinit library_symbol function(in_module);
    EXPECT_EQ(function.address(), nullptr);
    void* module = load();
    void* const before = function.address();
    EXPECT_EQ(before, dlsym(module, in_module));
    library_symbol::forget_unloaded();
    EXPECT_EQ(function.address(), before);
    dlclose(module);
    library_symbol::forget_unloaded();
    EXPECT_EQ(function.address(), nullptr);
    module = load();
    EXPECT_EQ(function.address(), dlsym(module, in_module));
    dlclose(module);
    library_symbol::forget_unloaded();
}

}  // namespace
}  // namespace halcyon::calls

/// Counts what the room asks the dynamic linker.
extern "C" void* dlopen(const char* path, int flags) {
    static auto* const real = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
    if ((flags & RTLD_NOLOAD) != 0) ++halcyon::calls::asked;
    return real(path, flags);
}
