#include "key_value.h"

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

_Noreturn void stop(const char* format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    // MPICH's mpirun drops what it has not read yet when it hears that a rank aborts.
    const struct timespec moment = {.tv_nsec = 200000000};
    nanosleep(&moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void apply(const char* word, const struct setting* known, int count) {
    const char* equals = strchr(word, '=');
    for (int i = 0; equals != NULL && i < count; ++i) {
        const size_t length = strlen(known[i].key);
        if (length != (size_t)(equals - word) || strncmp(word, known[i].key, length) != 0) continue;
        if (known[i].text != NULL) {
            *known[i].text = equals + 1;
            return;
        }
        char* end = NULL;
        *known[i].number = strtol(equals + 1, &end, 10);
        if (end == equals + 1 || *end != '\0' || *known[i].number < known[i].least)
            stop("%s: expected a whole number of at least %ld", word, known[i].least);
        return;
    }
    char keys[512] = "";
    for (int i = 0; i < count; ++i) {
        strncat(keys, " ", sizeof keys - strlen(keys) - 1);
        strncat(keys, known[i].key, sizeof keys - strlen(keys) - 1);
    }
    stop("unknown word '%s'; expected key=value, keys:%s", word, keys);
}

void read_settings(int argc, char** argv, const struct setting* known, int count) {
    for (int i = 1; i < argc; ++i) apply(argv[i], known, count);
}

void make_directory(const char* path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST) stop("%s: %s", path, strerror(errno));
}

// splitmix64 (Steele, Lea & Flood 2014) of both.
double even_number(long seed, long place) {
    unsigned long bits = (unsigned long)seed * 0xd1342543de82ef95UL + (unsigned long)place * 0x9e3779b97f4a7c15UL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9UL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebUL;
    return (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}
