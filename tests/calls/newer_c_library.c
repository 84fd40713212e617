// What C libraries from 2.38 on call scanf and its like. With -DLIBRARY: a library that has these names, as such a one
// has. Else a program that was built for one. Usage: newer_c_library <directory>, in which each name has a file
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#ifdef LIBRARY

// The C library's own, past all who stand in front of them.
#define OF_STREAM(name, listed, older, character)                                \
    int listed(FILE* stream, const character* format, va_list values) {          \
        int (*real)(FILE*, const character*, va_list) = dlsym(RTLD_NEXT, older); \
        return real(stream, format, values);                                     \
    }                                                                            \
    int name(FILE* stream, const character* format, ...) {                       \
        va_list values;                                                          \
        va_start(values, format);                                                \
        const int result = listed(stream, format, values);                       \
        va_end(values);                                                          \
        return result;                                                           \
    }
#define OF_INPUT(name, listed, of_stream, character)      \
    int listed(const character* format, va_list values) { \
        return of_stream(stdin, format, values);          \
    }                                                     \
    int name(const character* format, ...) {              \
        va_list values;                                   \
        va_start(values, format);                         \
        const int result = listed(format, values);        \
        va_end(values);                                   \
        return result;                                    \
    }
OF_STREAM(__isoc23_fscanf, __isoc23_vfscanf, "__isoc99_vfscanf", char)
OF_STREAM(__isoc23_fwscanf, __isoc23_vfwscanf, "__isoc99_vfwscanf", wchar_t)
OF_INPUT(__isoc23_scanf, __isoc23_vscanf, __isoc23_vfscanf, char)
OF_INPUT(__isoc23_wscanf, __isoc23_vwscanf, __isoc23_vfwscanf, wchar_t)

#else

int __isoc23_fscanf(FILE*, const char*, ...);
int __isoc23_vfscanf(FILE*, const char*, va_list);
int __isoc23_scanf(const char*, ...);
int __isoc23_vscanf(const char*, va_list);
int __isoc23_fwscanf(FILE*, const wchar_t*, ...);
int __isoc23_vfwscanf(FILE*, const wchar_t*, va_list);
int __isoc23_wscanf(const wchar_t*, ...);
int __isoc23_vwscanf(const wchar_t*, va_list);

static const char* directory;

static FILE* opened(const char* name, FILE* again) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE* stream = again == NULL ? fopen(path, "r") : freopen(path, "r", again);
    if (stream == NULL) abort();
    return stream;
}

static int listed(FILE* stream, int wide, const void* format, ...) {
    va_list values;
    va_start(values, format);
    const int result =
        stream != NULL ? (wide ? __isoc23_vfwscanf(stream, format, values) : __isoc23_vfscanf(stream, format, values))
                       : (wide ? __isoc23_vwscanf(format, values) : __isoc23_vscanf(format, values));
    va_end(values);
    return result;
}

int main(int count, char** words) {
    (void)count;
    directory = words[1];
    char text[100];
    wchar_t wide[100];
    FILE* stream = opened("fscanf", NULL);
    if (__isoc23_fscanf(stream, "%99s", text) != 1) return 1;
    // What comes behind is read from where that one left the file.
    static char rest[20000];
    if (fread(rest, 1, sizeof rest, stream) != 20000 - 99) return 9;
    if (listed(opened("vfscanf", NULL), 0, "%99s", text) != 1) return 2;
    if (__isoc23_fwscanf(opened("fwscanf", NULL), L"%99ls", wide) != 1) return 3;
    if (listed(opened("vfwscanf", NULL), 1, L"%99ls", wide) != 1) return 4;
    opened("scanf", stdin);
    if (__isoc23_scanf("%99s", text) != 1) return 5;
    opened("vscanf", stdin);
    if (listed(NULL, 0, "%99s", text) != 1) return 6;
    opened("wscanf", stdin);
    if (__isoc23_wscanf(L"%99ls", wide) != 1) return 7;
    opened("vwscanf", stdin);
    if (listed(NULL, 1, L"%99ls", wide) != 1) return 8;
    return 0;
}
#endif
