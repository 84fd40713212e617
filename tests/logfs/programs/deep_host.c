// Opens deep_module.c's library, and hands it a descriptor and the name of a file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>

int main(int count, char** words) {
    void* module = count == 3 ? dlopen(words[1], RTLD_NOW | RTLD_DEEPBIND) : NULL;
    if (module == NULL) return 2;
    void (*work)(int, const char*) = (void (*)(int, const char*))dlsym(module, "read_and_write");
    work(open(words[2], O_RDWR), words[2]);
    return 0;
}
