// A program that can be run in several ways: each is named on the command line, and a function.
#pragma once
#include <stddef.h>
#include <string.h>

struct way {
    const char* name;
    void (*run)(void);
};

/// Runs the way that the only argument names; 0: there is none of that name.
static int run_way(const struct way* ways, size_t count, int argc, char** argv) {
    for (size_t one = 0; one < count; ++one)
        if (argc == 2 && strcmp(argv[1], ways[one].name) == 0) {
            ways[one].run();
            return 1;
        }
    return 0;
}
