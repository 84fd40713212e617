// Streams where what they move is hard to tell. Usage: streams; writes into the working directory, a file for each
// case.
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static char text[100000];
static char buffer[100000];
static wchar_t wide[200];

static void make(const char* name, int bytes) {
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(fd, text, bytes) != bytes || close(fd) != 0) abort();
}

static FILE* made(const char* name, const char* mode) {
    make(name, 20000);
    return fopen(name, mode);
}

// What the C library's headers put in place of calls when they optimise: __getdelim, __uflow, __overflow.
static void inlined(void) {
    char* line = NULL;
    size_t room = 0;
    FILE* in = made("lines", "r");
    while (getline(&line, &room, in) > 0) {
    }
    fclose(in);
    in = made("delimited", "r");
    while (getdelim(&line, &room, 'c', in) > 0) fgetc(in);
    fclose(in);
    in = made("characters", "r");
    while (getc_unlocked(in) != EOF && !feof_unlocked(in) && !ferror_unlocked(in)) {
    }
    fclose(in);
    in = made("both", "r");
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 1500; ++j) fgetc_unlocked(in);
        if (fread(buffer, 1, 2000, in) != 2000) abort();
        if (getline(&line, &room, in) < 0 || fscanf(in, "%99s", buffer) != 1) abort();
        fgets(buffer, 50, in);
    }
    fclose(in);
    in = made("input", "r");
    const int kept = dup(0);
    dup2(fileno(in), 0);
    while (getchar_unlocked() != EOF) {
    }
    dup2(kept, 0);
    close(kept);
    fclose(in);
    free(line);

    FILE* out = fopen("put", "w");
    for (int i = 0; i < 9000; ++i) putc_unlocked('x', out);
    fclose(out);
    out = fopen("mixed", "w");
    for (int i = 0; i < 4000; ++i) {
        fputc_unlocked('y', out);
        fprintf(out, "%d %.9f\n", i, i / 7.);
        putc('z', out);
        fputs("text", out);
    }
    fclose(out);
    out = fopen("line by line", "w");
    setvbuf(out, NULL, _IOLBF, 200);
    for (int i = 0; i < 2000; ++i) putc_unlocked(i % 70 ? 'x' : '\n', out);
    fclose(out);
    out = fopen("unbuffered", "w");
    setvbuf(out, NULL, _IONBF, 0);
    for (int i = 0; i < 100; ++i) putc_unlocked('x', out);
    fprintf(out, "%s %.9f", "some text", 2 / 7.);
    fclose(out);
    const int fd = open("printed to a descriptor", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 10; ++i) dprintf(fd, "%5000d %.50f %c\n", i, i / 7., 'c');
    close(fd);
}

// Streams of memory, whose descriptor's number is whatever the memory held before.
static void of_memory(void) {
    char* held = NULL;
    size_t bytes = 0;
    for (int i = 0; i < 20; ++i) {
        FILE* out = fopen("before", "w");
        fputs("text", out);
        fclose(out);
        FILE* memory = open_memstream(&held, &bytes);
        const int fd = open("beside", O_RDWR | O_CREAT | O_TRUNC, 0644);
        for (int j = 0; j < 9000; ++j) putc_unlocked('x', memory);
        fwprintf(stderr, L"");
        fclose(memory);
        if (write(fd, held, 100) != 100) abort();
        close(fd);
        free(held);
        snprintf(buffer, sizeof buffer, "%99d %.30f", i, i / 7.);
        sscanf(buffer, "%d", &(int){0});
    }
}

static void wide_seeks(void) {
    FILE* file = made("wide read", "r");
    fgetwc(file);
    fseek(file, 10, SEEK_SET);
    fgetwc(file);
    fclose(file);
    file = made("wide read far", "r");
    fgetws(wide, 200, file);
    fseek(file, 5000, SEEK_SET);
    fgetws(wide, 200, file);
    fseek(file, 5100, SEEK_SET);
    fgetws(wide, 200, file);
    ungetwc(L'u', file);
    fseek(file, 100, SEEK_SET);
    fgetws(wide, 200, file);
    fclose(file);
    file = made("wide r+ fseek", "r+");
    fputws(L"tail\u20ac", file);
    fseek(file, 10, SEEK_SET);
    fclose(file);
    file = made("wide r+ rewind", "r+");
    fputws(L"tail\u20ac", file);
    rewind(file);
    fclose(file);
    file = made("wide r+ fsetpos", "r+");
    fpos_t place;
    fgetws(wide, 200, file);
    fgetpos(file, &place);
    fseek(file, 0, SEEK_END);
    fputws(L"tail\u20ac", file);
    fsetpos(file, &place);
    fgetws(wide, 200, file);
    fclose(file);
    file = fopen("wide w", "w");
    fputws(L"tail\u20ac", file);
    fseek(file, 0, SEEK_SET);
    fputws(L"x", file);
    fclose(file);
    file = fopen("wide w+", "w+");
    fputws(L"tail\u20ac", file);
    rewind(file);
    fgetws(wide, 200, file);
    fclose(file);
    file = fopen("wide large", "w+");
    for (int i = 0; i < 9000; ++i) fputwc(L'\u20ac', file);
    fseek(file, 6, SEEK_SET);
    while (fgetws(wide, 200, file)) {
    }
    fclose(file);
    make("wide a", 100);
    file = fopen("wide a", "a");
    fputws(L"tail\u20ac", file);
    fseek(file, 0, SEEK_SET);
    fputws(L"x\u20ac", file);
    fflush(file);
    fputws(L"y", file);
    fclose(file);
}

static void narrow_seeks(void) {
    FILE* file = made("again", "r");
    fgetc(file);
    fseek(file, 10, SEEK_SET);
    fgetc(file);
    fseek(file, 20, SEEK_SET);
    fgetc(file);
    fseek(file, 4096, SEEK_SET);
    fgetc(file);
    fseek(file, 4095, SEEK_SET);
    fclose(file);
    make("short", 5016);
    file = fopen("short", "r");
    for (int i = 0; i < 3; ++i) fgetc(file);
    ungetc('Z', file);
    ungetc('Y', file);
    fgetc(file);
    fseek(file, -2, SEEK_CUR);
    fgetc(file);
    ungetc('A', file);
    fseek(file, 5, SEEK_SET);
    fgetc(file);
    fseek(file, 5010, SEEK_SET);
    fgetc(file);
    ungetc('B', file);
    fseek(file, 5011, SEEK_SET);
    fgetc(file);
    fclose(file);
    file = made("read and written", "r+");
    fgetc(file);
    fseek(file, 0, SEEK_CUR);
    fputs("text", file);
    fseek(file, 1, SEEK_SET);
    fgetc(file);
    fseek(file, 3, SEEK_SET);
    fputs("more", file);
    fseek(file, 2, SEEK_SET);
    fgetc(file);
    lseek(fileno(file), 7000, SEEK_SET);
    fseek(file, 4, SEEK_SET);
    fgetc(file);
    fclose(file);
}

static void mapped(void) {
    FILE* file = made("mapped", "rm");
    if (fread(buffer, 1, 5000, file) != 5000) abort();
    fgetc(file);
    fseek(file, 10, SEEK_SET);
    fgets(buffer, 100, file);
    rewind(file);
    while (fgetc(file) != EOF) {
    }
    fclose(file);
    file = made("mapped and wide", "rm");
    fgetws(wide, 200, file);
    fseek(file, 100, SEEK_SET);
    fgetws(wide, 200, file);
    fflush(file);
    fclose(file);
    file = made("not mapped", "rm");
    setvbuf(file, NULL, _IOFBF, 1000);
    fgets(buffer, 100, file);
    fseek(file, 5000, SEEK_SET);
    fgets(buffer, 100, file);
    fclose(file);
}

int main(void) {
    if (setlocale(LC_ALL, "C.UTF-8") == NULL) abort();
    for (int i = 0; i < (int)sizeof text; ++i) text[i] = i % 37 == 0 ? '\n' : 'a' + i % 26;
    inlined();
    of_memory();
    wide_seeks();
    narrow_seeks();
    mapped();
    return 0;
}
