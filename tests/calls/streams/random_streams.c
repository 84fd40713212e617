// Random operations on streams, narrow and wide. Usage: random_streams <directory> <seed> <operations> [<from>]
// Prints a digest of what came of each 1,000 operations; from operation <from> on, each in words, too. What happens
// depends on the seed alone: where two file systems do the same, it prints the same.
#define _GNU_SOURCE
#include <locale.h>

#include "wide_operations.h"

int main(int count, char** words) {
    if (count < 4 || setlocale(LC_ALL, "C.UTF-8") == NULL) return 2;
    directory = words[1];
    chance = strtoull(words[2], NULL, 10) * 0x9E3779B97F4A7C15u + 1;
    const long operations = atol(words[3]);
    told_from = count > 4 ? atol(words[4]) : operations + 1;
    for (operation = 0; operation < operations; ++operation) {
        struct slot* slot = &slots[pick(STREAMS)];
        if (slot->stream != NULL)
            (slot->wide ? wide_operation : narrow_operation)(slot);
        else if (pick(3) == 0)
            open_wide(slot);
        else
            open_narrow(slot);
        if (operation % 1000 == 999) printf("%ld %llx\n", operation, (unsigned long long)digest);
    }
    for (int i = 0; i < STREAMS; ++i) {
        if (slots[i].stream != NULL) close_slot(&slots[i]);
    }
    char path[4096];
    for (int i = 0; i < 6; ++i) {
        snprintf(path, sizeof path, "%s/%s%d", directory, i < 3 ? "narrow" : "wide", i % 3);
        note_content(path);
    }
    printf("end %llx\n", (unsigned long long)digest);
    return 0;
}
