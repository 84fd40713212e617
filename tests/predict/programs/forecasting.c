/* Does I/O that repeats itself, and asks what comes next: forecasting MODE FOLDER. Standard output is no file that is
 * learnt. */
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include <fcntl.h>
#include <halcyon/halcyon.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* folder;
static char data[8192];

static const char* const operations[] = {"open", "close", "read", "write", "copy", "sync"};

static void show(const halcyon_forecast_t* f) {
    for (int64_t i = 0; i < f->count; ++i) {
        const halcyon_expected_access* a = &f->accesses[i];
        const char* name = strncmp(a->path, folder, strlen(folder)) == 0 ? a->path + strlen(folder) + 1 : a->path;
        printf("%s %s%s %lld %lld\n", operations[a->operation], name, a->new_file ? " new" : "", (long long)a->offset,
               (long long)a->bytes);
    }
}

static void check(int code) {
    if (code == HALCYON_OK) return;
    printf("error %d: %s\n", code, halcyon_error_message());
    fflush(stdout);
    _exit(1);
}

static halcyon_expected_access room[4096];

static halcyon_forecast_t ask(int64_t n) {
    halcyon_forecast_t f = {.size_bytes = sizeof f, .accesses = room, .capacity = 4096};
    check(halcyon_forecast(NULL, n, &f));
    return f;
}

static int open_numbered(const char* pattern, int number, int flags) {
    char name[64], path[4096];
    snprintf(name, sizeof name, pattern, number);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, flags, 0600);
    if (fd < 0) abort();
    return fd;
}

static void put(int fd, size_t bytes) {
    if (write(fd, data, bytes) != (ssize_t)bytes) abort();
}

/* A step of a simulation: a new file of three writes, a line to a log that is open all the time, a sync. */
static void step(int number, int log) {
    const int fd = open_numbered("out.%04d", number, O_CREAT | O_TRUNC | O_WRONLY);
    for (int i = 0; i < 3; ++i) put(fd, 4096);
    close(fd);
    put(log, 100);
    fsync(log);
}

static void loop(void) {
    const int log = open_numbered("run%d.log", 1, O_CREAT | O_WRONLY);
    for (int i = 0; i < 10; ++i) step(i, log);
    const halcyon_forecast_t f = ask(14);
    show(&f);
    printf("complete %d threads %d left out %d\n", f.complete, f.threads, f.threads_left_out);
    close(log);
}

/* Files of two kinds in turn; failed calls, and files that are only asked about, change nothing. */
static void two_kinds(void) {
    for (int i = 0; i < 10; ++i) {
        close(open_numbered("a.%d", i, O_CREAT | O_WRONLY));
        char path[4096];
        snprintf(path, sizeof path, "%s/b.%d", folder, 10 * i + 10);
        if (access(path, F_OK) == 0 || open(path, O_RDONLY) >= 0) abort();
        close(open_numbered("b.%d", 10 * i, O_CREAT | O_WRONLY));
    }
    const halcyon_forecast_t f = ask(8);
    show(&f);
}

/* What stdio moves comes as transfers of its file. */
static void streams(void) {
    for (int i = 0; i < 10; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%s/s.%d", folder, i);
        FILE* f = fopen(path, "w");
        for (int k = 0; k < 3; ++k) fwrite(data, 1, 100, f);
        fclose(f);
    }
    const halcyon_forecast_t f = ask(3);
    show(&f);
}

enum { workers = 8, rounds = 6, writes = 10 };
static pthread_barrier_t all;

static void* work(void* number) {
    const int own = (int)(long)number;
    const int fd = open_numbered("t.%d", own, O_CREAT | O_WRONLY);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < writes; ++i) put(fd, 1000 + (size_t)own);
        fsync(fd);
    }
    pthread_barrier_wait(&all); /* main asks */
    pthread_barrier_wait(&all);
    close(fd);
    return NULL;
}

static void threads(void) {
    pthread_t thread[workers];
    pthread_barrier_init(&all, NULL, workers + 1);
    for (long i = 0; i < workers; ++i) pthread_create(&thread[i], NULL, work, (void*)i);
    pthread_barrier_wait(&all);
    const halcyon_forecast_t f = ask((int64_t)workers * (writes + 1));
    int of_thread[64] = {0}, ordered = 1, own_file = 1;
    int64_t bytes = 0;
    for (int64_t i = 0; i < f.count; ++i) {
        const halcyon_expected_access* a = &f.accesses[i];
        if (i > 0 && a->begins_s < f.accesses[i - 1].begins_s) ordered = 0;
        if (a->operation == HALCYON_ACCESS_WRITE) {
            bytes += a->bytes;
            const char* digit = strrchr(a->path, '.') + 1;
            if (a->bytes != 1000 + atoi(digit)) own_file = 0;
        }
        if (a->thread >= 0 && a->thread < 64) ++of_thread[a->thread];
    }
    int asked = 0;
    for (int i = 0; i < 64; ++i) asked += of_thread[i] > 0;
    printf("threads %d count %lld ordered %d own files %d\n", f.threads, (long long)f.count, ordered, own_file);
    printf("several of them %d\n", asked > 1);
    pthread_barrier_wait(&all);
    for (int i = 0; i < workers; ++i) pthread_join(thread[i], NULL);
}

/* Threads that learn while another asks all the time. */
static volatile int busy = workers;

static void* work_on(void* number) {
    const int fd = open_numbered("t.%d", (int)(long)number, O_CREAT | O_WRONLY);
    for (int i = 0; i < 20000; ++i) {
        if (pwrite(fd, data, 64, (off_t)(i % 16) * 64) != 64) abort();
    }
    close(fd);
    __atomic_sub_fetch(&busy, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void asked_meanwhile(void) {
    pthread_t thread[workers];
    for (long i = 0; i < workers; ++i) pthread_create(&thread[i], NULL, work_on, (void*)i);
    int64_t asked = 0;
    while (__atomic_load_n(&busy, __ATOMIC_SEQ_CST) > 0) {
        ask(100);
        ++asked;
    }
    for (int i = 0; i < workers; ++i) pthread_join(thread[i], NULL);
    printf("asked %d\n", asked > 0);
}

static void forked(void) {
    const int log = open_numbered("run%d.log", 1, O_CREAT | O_WRONLY);
    for (int i = 0; i < 10; ++i) step(i, log);
    fflush(stdout);
    if (fork() == 0) {
        halcyon_forecast_t f = ask(3);
        printf("child knows %lld of %d threads\n", (long long)f.count, f.threads);
        const int own = open_numbered("child%d.log", 1, O_CREAT | O_WRONLY);
        for (int i = 0; i < 10; ++i) put(own, 50);
        f = ask(2);
        show(&f);
        fflush(stdout);
        exit(0);
    }
    wait(NULL);
    const halcyon_forecast_t f = ask(2);
    show(&f);
}

static volatile sig_atomic_t signals = 0;
static int handlers_file;

static void handle(int signal) {
    (void)signal;
    ++signals;
    if (write(handlers_file, "x", 1) != 1) abort();
}

/* A handler writes while the program does; how many calls there were. */
static void interrupted(void) {
    handlers_file = open_numbered("signal%d", 1, O_CREAT | O_WRONLY | O_APPEND);
    const int fd = open_numbered("main%d", 1, O_CREAT | O_WRONLY);
    signal(SIGALRM, handle);
    const struct itimerval often = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &often, NULL);
    long mine = 2;
    while (signals < 3000) {
        if (pwrite(fd, data, 64, (mine % 16) * 64) != 64) abort();
        ++mine;
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    const halcyon_forecast_t f = ask(1);
    printf("calls %ld count %lld\n", mine + signals, (long long)f.count);
}

static void* write_once(void* number) {
    const int fd = open_numbered("t.%d", (int)(long)number, O_CREAT | O_WRONLY);
    pthread_barrier_wait(&all);
    close(fd);
    return NULL;
}

enum { many = 300 };

static void beyond(void) {
    static pthread_t thread[many];
    pthread_barrier_init(&all, NULL, many);
    for (long i = 0; i < many; ++i) pthread_create(&thread[i], NULL, write_once, (void*)i);
    for (int i = 0; i < many; ++i) pthread_join(thread[i], NULL);
}

static void* write_step(void* number) {
    const int fd = open_numbered("out.%04d", (int)(long)number, O_CREAT | O_WRONLY);
    put(fd, 512);
    close(fd);
    return NULL;
}

/* A thread for each piece of work. */
static void in_turn(void) {
    for (long i = 0; i < 400; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, write_step, (void*)i);
        pthread_join(thread, NULL);
    }
    const halcyon_forecast_t f = ask(3);
    show(&f);
}

static void say(int code) {
    printf("%d: %s\n", code, halcyon_error_message());
}

static void refused(void) {
    halcyon_forecast_t f = {.size_bytes = sizeof f, .accesses = room, .capacity = 3};
    say(halcyon_forecast(NULL, 1, &f));
    say(halcyon_forecast(NULL, 4, &f));
    say(halcyon_forecast(NULL, 1, NULL));
    say(halcyon_forecast_window(NULL, -1, &f));
    f.accesses = NULL;
    say(halcyon_forecast(NULL, 1, &f));
    f.size_bytes = 0;
    say(halcyon_forecast_window(NULL, 1, &f));
}

/* A program that was built when the forecast had no members behind next_phase_confidence. */
static void asks_as_of_old(void) {
    for (int i = 0; i < 10; ++i) step(i, open_numbered("run%d.log", i, O_CREAT | O_WRONLY));
    halcyon_forecast_t f;
    memset(&f, 0x55, sizeof f);
    f.size_bytes = offsetof(halcyon_forecast_t, next_phase_earliest_s);
    f.accesses = room;
    f.capacity = 3;
    check(halcyon_forecast(NULL, 3, &f));
    const unsigned char* const bytes = (const unsigned char*)&f;
    int touched = 0;
    for (size_t i = f.size_bytes; i < sizeof f; ++i) touched += bytes[i] != 0x55;
    printf("count %lld threads %d touched %d\n", (long long)f.count, f.threads, touched);
}

/* A program that was built when the forecast had a member more. */
static void asks_as_of_new(void) {
    for (int i = 0; i < 10; ++i) step(i, open_numbered("run%d.log", i, O_CREAT | O_WRONLY));
    struct {
        halcyon_forecast_t known;
        uint64_t later;
    } f = {.known = {.size_bytes = sizeof f, .accesses = room, .capacity = 3}, .later = 42};
    check(halcyon_forecast(NULL, 3, &f.known));
    printf("count %lld threads %d size %s, later member %llu\n", (long long)f.known.count, f.known.threads,
           f.known.size_bytes == sizeof f.known ? "as known here" : "as asked", (unsigned long long)f.later);
}

/* Descriptor 2 is a file of its own by the time that anybody complains. */
static void file_as_standard_error(void) {
    close(2);
    put(open_numbered("precious.%d", 2, O_CREAT | O_WRONLY), 64);
}

/* More than anybody could tell. */
static void asks_for_all(void) {
    const int log = open_numbered("run%d.log", 1, O_CREAT | O_WRONLY);
    for (int i = 0; i < 10; ++i) step(i, log);
    const int64_t numbers[] = {4095, 4096, 4097, (int64_t)1 << 40, INT64_MAX};
    for (int i = 0; i < 5; ++i) {
        halcyon_forecast_t f = {.size_bytes = sizeof f, .accesses = room, .capacity = numbers[i]};
        check(halcyon_forecast(NULL, numbers[i], &f));
        printf("%lld complete %d\n", (long long)f.count, f.complete);
    }
}

static void saved(int steps) {
    const int log = open_numbered("run%d.log", 1, O_CREAT | O_WRONLY);
    for (int i = 0; i < steps; ++i) step(i, log);
    const halcyon_forecast_t f = ask(7);
    show(&f);
    close(log);
}

int main(int count, char** words) {
    if (count < 3) return 2;
    const char* mode = words[1];
    folder = words[2];
    if (strcmp(mode, "loop") == 0) loop();
    if (strcmp(mode, "two-kinds") == 0) two_kinds();
    if (strcmp(mode, "streams") == 0) streams();
    if (strcmp(mode, "threads") == 0) threads();
    if (strcmp(mode, "asked-meanwhile") == 0) asked_meanwhile();
    if (strcmp(mode, "fork") == 0) forked();
    if (strcmp(mode, "exec") == 0) {
        close(open_numbered("before%d", 1, O_CREAT | O_WRONLY));
        execl("/proc/self/exe", words[0], "loop", folder, NULL);
    }
    if (strcmp(mode, "signal") == 0) interrupted();
    if (strcmp(mode, "beyond") == 0) beyond();
    if (strcmp(mode, "in-turn") == 0) in_turn();
    if (strcmp(mode, "refused") == 0) refused();
    if (strcmp(mode, "as-of-old") == 0) asks_as_of_old();
    if (strcmp(mode, "as-of-new") == 0) asks_as_of_new();
    if (strcmp(mode, "file-as-standard-error") == 0) file_as_standard_error();
    if (strcmp(mode, "asks-for-all") == 0) asks_for_all();
    if (strcmp(mode, "steps") == 0) saved(atoi(words[3]));
    return 0;
}
