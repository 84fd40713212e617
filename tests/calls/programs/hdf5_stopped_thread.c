/* A thread stands still while the recorder looks at HDF5 for it, until another thread has used HDF5:
   hdf5_stopped_thread FILE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

static atomic_int wants_to_stop, is_stopped, may_go_on;

/* The recorder opens what is loaded already, to ask for its functions. */
void* dlopen(const char* name, int flags) {
    static void* (*real)(const char*, int);
    if (real == NULL) real = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
    if ((flags & RTLD_NOLOAD) != 0 && name != NULL && strstr(name, "hdf5") && atomic_exchange(&wants_to_stop, 0)) {
        is_stopped = 1;
        while (!may_go_on) sched_yield();
    }
    return real(name, flags);
}

static void* use_first(void* nothing) {
    wants_to_stop = 1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Fopen("/nowhere", H5F_ACC_RDONLY, H5P_DEFAULT);
    return nothing;
}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    pthread_t first;
    const struct rlimit instead_of_waiting_without_end = {30, 30};
    setrlimit(RLIMIT_CPU, &instead_of_waiting_without_end);
    H5open();
    pthread_create(&first, NULL, use_first, NULL);
    while (!is_stopped) sched_yield();
    const hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const int is_bad = file < 0 || H5Fflush(file, H5F_SCOPE_LOCAL) < 0;
    may_go_on = 1;
    pthread_join(first, NULL);
    return is_bad || H5Fclose(file) < 0;
}
