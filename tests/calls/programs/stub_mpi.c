/* A library with MPI's names and nothing behind them, for tests of what no installed MPI does.
 *
 * Handles are those of MPICH, numbers in ints. With STUB_STANDARD_ABI they are those of the ABI of MPI 5: pointers of
 * which small ones are constants; the library says so, and ends the program when it is asked about any of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef STUB_STANDARD_ABI
typedef void* handle;
int PMPI_Abi_get_version(int* major, int* minor) {
    *major = 1;
    *minor = 0;
    return 0;
}
#else
typedef int handle;
#endif

struct status {
    int64_t bytes;
    int64_t rest[3];
};

/* What a test does while a call is under way. */
void (*stub_during_wait)(void);

#ifdef STUB_STANDARD_ABI
#define MISREAD abort()
#else
#define MISREAD (void)0
#endif

int MPI_Init(int* count, char*** arguments) {
    (void)count, (void)arguments;
    return 0;
}
int PMPI_Initialized(int* flag) {
    *flag = 1;
    return 0;
}
int PMPI_Get_library_version(char* text, int* length) {
    strcpy(text, "stub");
    *length = 4;
    return 0;
}
int PMPI_Comm_rank(handle communicator, int* rank) {
    MISREAD;
    (void)communicator;
    *rank = 0;
    return 0;
}
int PMPI_Comm_size(handle communicator, int* size) {
    MISREAD;
    (void)communicator;
    *size = 1;
    return 0;
}
/* Every type has 8 bytes. */
int PMPI_Type_size_x(handle type, int64_t* bytes) {
    MISREAD;
    (void)type;
    *bytes = 8;
    return 0;
}
int PMPI_Get_elements_x(const struct status* status, handle type, int64_t* count) {
    MISREAD;
    (void)type;
    *count = status->bytes;
    return 0;
}
handle PMPI_Request_f2c(int request) {
    return (handle)(intptr_t)request;
}

int MPI_File_open(handle communicator, const char* path, int access, handle info, void** file) {
    static int opened;
    (void)communicator, (void)path, (void)access, (void)info;
    *file = &opened;
    return 0;
}
int MPI_File_close(void** file) {
    *file = NULL;
    return 0;
}
int MPI_File_get_type_extent_c(void* file, handle type, int64_t* extent) {
    (void)file, (void)type;
    *extent = 8;
    return 0;
}
int MPI_File_write_at_c(void* file, int64_t offset, const void* data, int64_t count, handle type,
                        struct status* status) {
    (void)file, (void)offset, (void)data, (void)type;
    if (status != NULL) status->bytes = count * 8;
    return 0;
}
/* All transfers that are started get the same request, as when a library uses one's place again at once. */
int MPI_File_iwrite_at(void* file, int64_t offset, const void* data, int count, handle type, handle* request) {
    (void)file, (void)offset, (void)data, (void)count, (void)type;
    *request = (handle)(intptr_t)0x2c000001;
    return 0;
}
static int complete(handle* request, struct status* status) {
    if (status != NULL) status->bytes = 80;
    *request = (handle)(intptr_t)0x2c000000;
    if (stub_during_wait != NULL) stub_during_wait();
    return 0;
}
int MPI_Wait(handle* request, struct status* status) {
    return complete(request, status);
}
int MPI_Test(handle* request, int* flag, struct status* status) {
    static int asked;
    *flag = ++asked % 2 == 0;
    return *flag ? complete(request, status) : 0;
}
