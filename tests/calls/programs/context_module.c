// What programs/contexts.c loads: twice, with another size of what lies before the call.
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void put(int file, const char* filler) {
    char* volatile kept = (char*)filler;
    char room[HALCYON_FRAME_BYTES];
    room[0] = kept[0];
    if (write(file, room, 1) != 1) abort();
    __asm__ volatile("" : : "r"(room) : "memory");
}

void put_from_module(int file) {
    put(file, "module");
    __asm__ volatile("");
}
