// Calls from several places of a program, as its first argument says; the second is a folder to write in.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static int file;

static APART void put(const char* bytes, size_t count) {
    if (write(file, bytes, count) != (ssize_t)count) abort();
    __asm__ volatile("");
}

// One place, three times.
static APART void put_in_a_loop(void) {
    for (volatile int i = 0; i < 3; ++i) put("loop", 4);
    __asm__ volatile("");
}

static APART void put_twice(void) {
    put("first", 5);
    put("other", 5);
    __asm__ volatile("");
}

static APART void put_at_depth(int depth, int largest) {
    put("depth", 5);
    if (depth < largest) put_at_depth(depth + 1, largest);
    __asm__ volatile("");
}

// 2 to the power of `depth` stacks.
static APART void put_in_a_tree(int depth) {
    if (depth == 0) {
        put("leaf", 4);
        return;
    }
    put_in_a_tree(depth - 1);
    __asm__ volatile("");
    put_in_a_tree(depth - 1);
    __asm__ volatile("");
}

// A frame that the compiler aligns.
static APART void put_aligned(void) {
    char __attribute__((aligned(64))) room[256];
    char* volatile variable = alloca((size_t)file + 64);
    memset(room, 'a', sizeof room);
    memset(variable, 'a', 8);
    put(room, 7);
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void* put_in_thread(void* none) {
    put("thread", 6);
    return none;
}

static void put_in_handler(int number) {
    (void)number;
    put("handler", 7);
    __asm__ volatile("");
}

static APART void raise_signals(void) {
    signal(SIGUSR1, put_in_handler);
    raise(SIGUSR1);
    __asm__ volatile("");
    raise(SIGUSR1);
    __asm__ volatile("");
}

static APART void put_in_child(void) {
    put("forked", 6);
    const pid_t child = fork();
    if (child == 0) {
        put_in_a_loop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    put_in_a_loop();
    __asm__ volatile("");
}

static APART void put_by_stream(const char* folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/stream", folder);
    FILE* stream = fopen(path, "w");
    fputs("stream", stream);
    fflush(stream);
    fputs("sought", stream);
    fseek(stream, 0, SEEK_SET);
    fclose(stream);
}

// Each time at another address, with others' code at the last one.
static APART void load_module(const char* path) {
    for (volatile int i = 0; i < 3; ++i) {
        void* module = dlopen(path, RTLD_NOW);
        if (module == NULL) abort();
        ((void (*)(int))dlsym(module, "put_from_module"))(file);
        dlclose(module);
        if (i == 0) mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
}

static APART void load_in_turn(const char* one, const char* other) {
    for (volatile int i = 0; i < 2; ++i) {
        load_module(one);
        load_module(other);
    }
}

int main(int count, char** words) {
    if (count < 3) return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/data", words[2]);
    file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    const char* what = words[1];
    if (strcmp(what, "places") == 0) {
        put_in_a_loop();
        put_twice();
        put_aligned();
    } else if (strcmp(what, "depth") == 0) {
        put_at_depth(1, atoi(words[3]));
    } else if (strcmp(what, "tree") == 0) {
        put_in_a_tree(atoi(words[3]));
    } else if (strcmp(what, "thread") == 0) {
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, put_in_thread, NULL);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    } else if (strcmp(what, "fork") == 0) {
        put_in_child();
    } else if (strcmp(what, "signal") == 0) {
        raise_signals();
    } else if (strcmp(what, "stream") == 0) {
        put_by_stream(words[2]);
    } else if (strcmp(what, "modules") == 0) {
        load_in_turn(words[3], words[4]);
    } else if (strcmp(what, "killed") == 0) {
        put_in_a_loop();
        (void)!write(STDOUT_FILENO, "done\n", 5);
        pause();
    } else {
        return 2;
    }
    close(file);
    return 0;
}
