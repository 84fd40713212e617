// logs.c in C++.
#include <cstdio>
#include <halcyon/logfs.hpp>
#include <string_view>

int main(int, char** argv) try {
    halcyon::logfs::file out(argv[1], halcyon::logfs::access::write, {.creates = true});
    out.write(0, std::string_view("hello, world"));
    out.close();
    return halcyon::logfs::flatten(argv[1], argv[2]).bytes == 12 ? 0 : 1;
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
