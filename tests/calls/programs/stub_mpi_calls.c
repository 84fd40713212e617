/* Calls of a stub of MPI (stub_mpi.c), which is loaded when it is used: stub_mpi_calls LIBRARY FILE WHAT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void* handle; /* wide enough for each */
struct status {
    int64_t words[4];
};

static void* stub;
static void* file;
static const char* path;

/* As a program that was linked with the library would reach it: through what stands in front. */
#define CALL(name, parameters) ((int(*) parameters)function(#name))

static void* function(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) fprintf(stderr, "%s: %s\n", name, dlerror()), exit(2);
    return found;
}

static void open_file(void) {
    CALL(MPI_Init, (int*, char***))(NULL, NULL);
    CALL(MPI_File_open, (handle, const char*, int, handle, void**))((handle)0x44000000, path, 4, NULL, &file);
}

static void close_file(void) {
    CALL(MPI_File_close, (void**))(&file);
}

static void start(handle* request) {
    static int64_t data[10];
    CALL(MPI_File_iwrite_at, (void*, int64_t, const void*, int, handle, handle*))
    (file, 0, data, 10, (handle)0x4c000001, request);
}

static void wait_for(handle* request) {
    struct status status;
    CALL(MPI_Wait, (handle*, struct status*))(request, &status);
}

/* More than an int can count; nothing lies behind it. */
static void large_counts(void) {
    struct status status;
    int64_t extent = 0;
    open_file();
    CALL(MPI_File_get_type_extent_c, (void*, handle, int64_t*))(file, (handle)0x4c000001, &extent);
    CALL(MPI_File_write_at_c, (void*, int64_t, const void*, int64_t, handle, struct status*))
    (file, 16, NULL, INT64_C(3000000000), (handle)0x4c000001, &status);
    close_file();
}

static handle second = NULL;

static void* start_second(void* unused) {
    start(&second);
    return unused;
}

/* The request is complete and free; before that thread knows, another has started one that got the same handle. */
static void reuse_request(void) {
    pthread_t other;
    *(void (**)(void))dlsym(stub, "stub_during_wait") = NULL;
    pthread_create(&other, NULL, start_second, NULL);
    pthread_join(other, NULL);
}

static void reused_request(void) {
    handle request = NULL;
    open_file();
    start(&request);
    *(void (**)(void))dlsym(stub, "stub_during_wait") = reuse_request;
    wait_for(&request);
    wait_for(&second);
    close_file();
}

static void tested_request(void) {
    handle request = NULL;
    struct status status;
    int done = 0;
    open_file();
    start(&request);
    while (!done) CALL(MPI_Test, (handle*, int*, struct status*))(&request, &done, &status);
    close_file();
}

/* Unloads the library; when it is loaded again, it lies elsewhere. */
static void unloaded_library(const char* library) {
    Dl_info where;
    open_file();
    close_file();
    dladdr(dlsym(stub, "MPI_File_open"), &where);
    dlclose(stub);
    if (mmap(where.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
        exit(3);
    stub = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    open_file();
    close_file();
}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    path = arguments[2];
    stub = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    if (stub == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
    if (strcmp(arguments[3], "large_counts") == 0) large_counts();
    if (strcmp(arguments[3], "reused_request") == 0) reused_request();
    if (strcmp(arguments[3], "tested_request") == 0) tested_request();
    if (strcmp(arguments[3], "unloaded_library") == 0) unloaded_library(arguments[1]);
    return 0;
}
