// Prints past everything that stands in front of the C library's functions: its own, looked up by name.
#define _GNU_SOURCE
#include <dlfcn.h>

int main(void) {
    int (*const print)(const char*, ...) = (int (*)(const char*, ...))dlsym(dlopen("libc.so.6", RTLD_NOW), "printf");
    for (int i = 0; i < 3000; ++i) print("%d\n", i);
    return 0;
}
