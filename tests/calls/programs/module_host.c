/* Loads modules, each for itself alone (as Python does), and runs them: module_host FILE MODULE... */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
    for (int i = 2; i < count; ++i) {
        char path[4096];
        void* module = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        int (*run)(const char*) = module == NULL ? NULL : (int (*)(const char*))dlsym(module, "run");
        if (run == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        snprintf(path, sizeof path, "%s.%d", arguments[1], i - 2);
        if (run(path) != 0) return 3;
    }
    return 0;
}
