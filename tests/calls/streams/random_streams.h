// Streams to which random operations happen, what came of each, and the numbers that decide.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define STREAMS 5

struct slot {
    FILE* stream;
    char* buffer;  // that setvbuf was given
    int wide;
    int simple;     // of a wide stream: a byte for each character
    int goes;       // of a wide stream: to other places than the beginning, too
    int direction;  // of the last transfer: 'r', 'w', or 0 where either may follow
    int has_place;
    fpos_t place;
    long offset;  // ftell's
};

static struct slot slots[STREAMS];
static const char* directory;
static char data[1 << 16];
static wchar_t wide_data[1 << 12];

// --- chance ---

static uint64_t chance;

static unsigned pick(unsigned count) {
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return (unsigned)((chance * 0x2545F4914F6CDD1Du) >> 33) % count;
}

static size_t some_bytes(void) {
    return pick(8) == 0 ? pick(20000) : pick(300);
}

static long some_offset(void) {
    return pick(64) == 0 ? (long)pick(3000000) : (long)pick(40000);
}

static const char* name_of(const char* kind) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s%u", directory, kind, pick(3));
    return path;
}

static void fill(size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) data[i] = pick(12) == 0 ? '\n' : (char)(' ' + pick(95));
    data[bytes] = '\0';
}

// --- what came of it ---

static uint64_t digest = 0xcbf29ce484222325u;
static long operation;
static long told_from;

static uint64_t hash_more(uint64_t hash, const void* bytes, size_t count) {
    const unsigned char* at = bytes;
    for (size_t i = 0; i < count; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static unsigned long long hash(const void* bytes, size_t count) {
    return hash_more(0xcbf29ce484222325u, bytes, count);
}

static void note(const char* format, ...) {
    char line[512];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    digest = hash_more(digest, line, (size_t)length);
    if (operation >= told_from) printf("%ld: %s\n", operation, line);
}

// With the error of what failed.
static void note_result(const char* what, long result) {
    note("%s %ld %d", what, result, result < 0 ? errno : 0);
}
