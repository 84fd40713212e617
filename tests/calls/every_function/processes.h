// Part of every_function.c: functions that jump, and that start and end processes.
#pragma once

#include "calling.h"

static void jumping(void) {
    EACH("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk") {
        sigjmp_buf place;
        volatile int jumps = 0;
        if (sigsetjmp(place, 0) == 0 && ++jumps < 3) CALL(void (*)(sigjmp_buf, int))(place, 1);
        CHECK(jumps == 1);
    }
}

static void unloading(void) {
    EACH("dlclose") {
        void* opened = dlopen("libc.so.6", RTLD_NOW);
        CHECK(opened != NULL && CALL(int (*)(void*))(opened) == 0);
    }
}

static void leaving(void) {
    EACH("setuid", "seteuid", "setgid", "setegid") {
        const unsigned same = strstr(name, "uid") ? geteuid() : getegid();
        CHECK(CALL(int (*)(unsigned))(same) == 0);
    }
    const unsigned unchanged = -1;
    EACH("setreuid", "setregid") CHECK(CALL(int (*)(unsigned, unsigned))(unchanged, unchanged) == 0);
    EACH("setresuid", "setresgid") {
        CHECK(CALL(int (*)(unsigned, unsigned, unsigned))(unchanged, unchanged, unchanged) == 0);
    }
    EACH("chroot") CHECK(CALL(int (*)(const char*))("/nowhere/at/all") != 0);
}

static int in_clone(void* path) {
    execl(path, "true", NULL);
    _exit(1);
}

static void starting(void) {
    char* true_program = "/bin/true";
    char* arguments[] = {"true", NULL};
    EACH("fork", "__fork", "_Fork", "execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "fexecve",
         "execveat", "_exit", "_Exit", "quick_exit", "abort") {
        const int forks = strstr(name, "ork") != NULL;
        const pid_t child = forks ? CALL(pid_t(*)(void))() : fork();
        if (child == 0) {
            if (forks) _exit(0);
            void* end = function(name);
            if (strcmp(name, "execve") == 0)
                CALL(int (*)(const char*, char**, char**))(true_program, arguments, environ);
            if (strcmp(name, "execv") == 0) CALL(int (*)(const char*, char**))(true_program, arguments);
            if (strcmp(name, "execvp") == 0) CALL(int (*)(const char*, char**))("true", arguments);
            if (strcmp(name, "execvpe") == 0) CALL(int (*)(const char*, char**, char**))("true", arguments, environ);
            if (strcmp(name, "execl") == 0) CALL(int (*)(const char*, ...))(true_program, "true", NULL);
            if (strcmp(name, "execle") == 0) CALL(int (*)(const char*, ...))(true_program, "true", NULL, environ);
            if (strcmp(name, "execlp") == 0) CALL(int (*)(const char*, ...))("true", "true", NULL);
            if (strcmp(name, "fexecve") == 0)
                CALL(int (*)(int, char**, char**))(open(true_program, O_RDONLY), arguments, environ);
            if (strcmp(name, "execveat") == 0)
                CALL(int (*)(int, const char*, char**, char**, int))(AT_FDCWD, true_program, arguments, environ, 0);
            if (strcmp(name, "abort") == 0) CALL(void (*)(void))();
            ((void (*)(int))end)(0);
        }
        int status = 0;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(strcmp(name, "abort") == 0 ? WTERMSIG(status) == SIGABRT : status == 0);
    }
    EACH("vfork", "__vfork") {
        const pid_t child = name[0] == 'v' ? vfork() : CALL(pid_t(*)(void))();
        if (child == 0) {
            execl(true_program, "true", NULL);
            _exit(1);
        }
        int status = 1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("clone") {
        static char stack[65536];
        const pid_t child = CALL(int (*)(int (*)(void*), void*, int, void*, ...))(
            in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, true_program);
        int status = 1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("posix_spawn", "posix_spawnp") {
        pid_t child = 0;
        int status = 1;
        CHECK(CALL(int (*)(pid_t*, const char*, void*, void*, char**, char**))(&child, true_program, NULL, NULL,
                                                                               arguments, environ) == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("syscall") CHECK(CALL(long (*)(long, ...))(SYS_getpid) == getpid());
}
