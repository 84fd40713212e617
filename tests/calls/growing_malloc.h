#pragma once

// The rest of a malloc that puts each piece's whole length, 16 bytes before it, and never takes anything back.
#include <stddef.h>
#include <string.h>

void* malloc(size_t bytes);

void free(void* memory) {
    (void)memory;
}

void* calloc(size_t count, size_t bytes) {
    return malloc(count * bytes);
}

void* realloc(void* old, size_t bytes) {
    char* fresh = malloc(bytes);
    size_t had = 0;
    if (old != NULL) memcpy(&had, (char*)old - 16, sizeof had);
    if (old != NULL) memcpy(fresh, old, had - 16 < bytes ? had - 16 : bytes);
    return fresh;
}
