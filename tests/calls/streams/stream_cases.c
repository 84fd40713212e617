// Streams in all ways in which programs use them. Usage: stream_cases <directory> <case>; prints what came of it.
#define _GNU_SOURCE
#include "message_cases.h"
#include "opening_cases.h"
#include "process_cases.h"
#include "sharing_cases.h"

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {
    {"appended", appended},
    {"as_daemon", as_daemon},
    {"buffers", buffers},
    {"cancelled", cancelled},
    {"characters", characters},
    {"checked", checked},
    {"child_of_vfork", child_of_vfork},
    {"commands", commands},
    {"conversions", conversions},
    {"descriptors", descriptors},
    {"ending", ending},
    {"forked", forked},
    {"inherited", inherited},
    {"joined", joined},
    {"mapped", mapped},
    {"messages", messages},
    {"modes", modes},
    {"reading", reading},
    {"redirected", redirected},
    {"reopened_beneath_threads", reopened_beneath_threads},
    {"reopening", reopening},
    {"shared_by_threads", shared_by_threads},
    {"threads_of_children", threads_of_children},
    {"written_by_processes", written_by_processes},
};

int main(int count, char** words) {
    if (count != 3) return 2;
    directory = words[1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(cases[i].name, words[2]) != 0) continue;
        cases[i].run();
        return 0;
    }
    fprintf(stderr, "no case %s\n", words[2]);
    return 2;
}
