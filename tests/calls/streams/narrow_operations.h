// What a program does to a stream of bytes, and to the descriptor below it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random_streams.h"

static const char* some_mode(void) {
    static const char* const modes[] = {"r", "r+", "w", "w+", "a", "a+", "rb", "r+e", "w+b", "wx", "ab+", "rce"};
    return modes[pick(sizeof modes / sizeof *modes)];
}

// From reading to writing, and back, the C standard wants a seek between; one of wide characters is none of the simple
// things of the C library, so that these streams go to the beginning, or, from writing, are flushed.
static void turn(struct slot* slot, int direction) {
    if (slot->direction != 0 && slot->direction != direction) {
        if (!slot->wide)
            note_result("fseek to turn", fseek(slot->stream, 0, SEEK_CUR));
        else if (direction == 'r')
            note_result("fflush to turn", fflush(slot->stream));
        else
            rewind(slot->stream);
    }
    slot->direction = direction;
}

static void adopt(struct slot* slot, FILE* stream, int wide) {
    memset(slot, 0, sizeof *slot);
    slot->stream = stream;
    slot->wide = wide;
}

static void close_slot(struct slot* slot) {
    note_result("fclose", fclose(slot->stream));
    free(slot->buffer);
    memset(slot, 0, sizeof *slot);
}

// Where the C standard wants it: before anything else happens to the stream.
static void choose_buffer(struct slot* slot) {
    const int kinds[] = {_IOFBF, _IOLBF, _IONBF};
    const int kind = kinds[pick(3)];
    const size_t bytes = 1 + pick(9000);
    if (kind != _IONBF && pick(2)) slot->buffer = malloc(bytes);
    note_result("setvbuf", setvbuf(slot->stream, slot->buffer, kind, bytes));
}

static void open_narrow(struct slot* slot) {
    const char* path = name_of("narrow");
    const char* mode = some_mode();
    FILE* stream = NULL;
    if (pick(4) == 0) {
        const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_APPEND};
        const int fd = open(path, flags[pick(4)] | (pick(2) ? O_CREAT : 0), 0640);
        stream = fd < 0 ? NULL : fdopen(fd, mode);
        note("fdopen %s %d %d", mode, stream != NULL, stream == NULL ? errno : 0);
        if (fd >= 0 && stream == NULL) close(fd);
    } else {
        stream = fopen(path, mode);
        note("fopen %s %d %d", mode, stream != NULL, stream == NULL ? errno : 0);
    }
    if (stream == NULL) return;
    adopt(slot, stream, 0);
    if (pick(3) == 0) choose_buffer(slot);
}

static void note_content(const char* path) {
    const int fd = open(path, O_RDONLY);
    uint64_t seen = 0xcbf29ce484222325u;
    ssize_t got = 0;
    long bytes = 0;
    while (fd >= 0 && (got = read(fd, data, sizeof data)) > 0) {
        seen = hash_more(seen, data, (size_t)got);
        bytes += got;
    }
    note("content %d %ld %llx", fd >= 0, bytes, (unsigned long long)seen);
    if (fd >= 0) close(fd);
}

static void put(struct slot* slot) {
    FILE* stream = slot->stream;
    const size_t bytes = some_bytes();
    turn(slot, 'w');
    fill(bytes);
    switch (pick(6)) {
        case 0:
            note_result("fwrite", (long)fwrite(data, 1, bytes, stream));
            break;
        case 1:
            note_result("fwrite of items", (long)fwrite(data, 7, bytes / 7, stream));
            break;
        case 2:
            note_result("fputs", fputs(data, stream) < 0 ? -1 : 0);
            break;
        case 3:
            note_result("fprintf", fprintf(stream, "%d %.*s %8.3f\n", (int)pick(1000), (int)(bytes % 900), data, 0.5));
            break;
        case 4:
            for (size_t i = 0; i < bytes % 500; ++i) note("putc %d", putc_unlocked(data[i], stream));
            break;
        default:
            note_result("putw", putw((int)pick(1 << 30), stream));
            note_result("fputc", fputc(data[0], stream));
            break;
    }
}

static void take(struct slot* slot) {
    FILE* stream = slot->stream;
    char* line = NULL;
    turn(slot, 'r');
    size_t room = 0;
    const size_t bytes = some_bytes();
    switch (pick(8)) {
        case 0: {
            const size_t got = fread(data, 1, bytes, stream);
            note("fread %zu %llx", got, hash(data, got));
            break;
        }
        case 1: {
            const size_t got = fread(data, 13, bytes / 13, stream);
            note("fread of items %zu %llx", got, hash(data, got * 13));
            break;
        }
        case 2: {
            const char* got = fgets(data, (int)bytes + 2, stream);
            note("fgets %d %llx", got != NULL, got == NULL ? 0 : hash(data, strlen(data)));
            break;
        }
        case 3: {
            const ssize_t got = getline(&line, &room, stream);
            note("getline %zd %llx", got, got < 0 ? 0 : hash(line, (size_t)got));
            break;
        }
        case 4: {
            const ssize_t got = getdelim(&line, &room, 'e', stream);
            note("getdelim %zd %llx", got, got < 0 ? 0 : hash(line, (size_t)got));
            break;
        }
        case 5:
            for (size_t i = 0; i < bytes % 500; ++i) note("getc %d", getc_unlocked(stream));
            break;
        case 6: {
            int number = -1;
            data[0] = '\0';
            const int got = fscanf(stream, "%60s %d", data, &number);
            note("fscanf %d %d %llx", got, number, hash(data, strlen(data)));
            break;
        }
        default: {
            note("getw %d", getw(stream));
            // What was read, which needs no area of its own: of one that has it, the C library (2.36) loses count when
            // the stream goes elsewhere, and ends the process later.
            const int got = getc(stream);
            note("getc and ungetc %d %d", got, ungetc(got, stream));
            break;
        }
    }
    free(line);
}

static void move_narrow(struct slot* slot) {
    FILE* stream = slot->stream;
    const unsigned way = pick(9);
    if (way < 4 || way == 5) slot->direction = 0;
    switch (way) {
        case 0:
            note_result("fseek", fseek(stream, some_offset(), SEEK_SET));
            break;
        case 1:
            note_result("fseek on", fseek(stream, (long)pick(9000) - 4500, SEEK_CUR));
            break;
        case 2:
            note_result("fseek from end", fseeko(stream, (long)pick(9000) - 6000, SEEK_END));
            break;
        case 3:
            rewind(stream);
            note("rewind");
            break;
        case 4:
            slot->has_place = fgetpos(stream, &slot->place) == 0;
            note("fgetpos %d", slot->has_place);
            break;
        case 5:
            if (slot->has_place) note_result("fsetpos", fsetpos(stream, &slot->place));
            break;
        case 6:
            note_result("fflush", fflush(stream));
            break;
        case 7:
            note_result("fflush of all", pick(8) == 0 ? fflush(NULL) : 0);
            break;
        default:
            note_result("ftell", ftell(stream));
            break;
    }
}

static void below(struct slot* slot) {
    const int fd = fileno(slot->stream);
    const size_t bytes = some_bytes();
    struct stat now = {0};
    switch (pick(8)) {
        case 0:
            fill(bytes);
            note_result("write", write(fd, data, bytes));
            break;
        case 1:
            fill(bytes);
            note_result("pwrite", pwrite(fd, data, bytes, some_offset()));
            break;
        case 2: {
            const ssize_t got = read(fd, data, bytes);
            note("read %zd %llx", got, got < 0 ? 0 : hash(data, (size_t)got));
            break;
        }
        case 3: {
            const ssize_t got = pread(fd, data, bytes, some_offset());
            note("pread %zd %llx", got, got < 0 ? 0 : hash(data, (size_t)got));
            break;
        }
        case 4:
            note_result("lseek", lseek(fd, (long)pick(9000) - 3000, (int)pick(3)));
            break;
        case 5:
            note_result("ftruncate", ftruncate(fd, pick(2) ? some_offset() : (long)pick(9000)));
            break;
        case 6:
            note_result("dprintf", dprintf(fd, "%d %.*s\n", 5, (int)(bytes % 700), "words and more words"));
            break;
        default:
            note_result("fstat", fstat(fd, &now));
            note("size %ld", (long)now.st_size);
            break;
    }
}

static void reopen(struct slot* slot) {
    const char* mode = some_mode();
    char wide[4096];
    snprintf(wide, sizeof wide, "%s/wide%u", directory, slot->simple ? pick(2) : 2);
    const char* path = pick(3) == 0 ? NULL : slot->wide ? wide : name_of("narrow");
    FILE* again = freopen(path, mode, slot->stream);
    note("freopen %s %s %d %d", path == NULL ? "itself" : "another", mode, again != NULL, again == NULL ? errno : 0);
    if (again != NULL) {
        slot->has_place = 0;
        slot->direction = 0;
        slot->goes = 0;
        return;
    }
    // Closed; whose its memory is, C libraries do not agree.
    free(slot->buffer);
    memset(slot, 0, sizeof *slot);
}

static void duplicate(struct slot* slot) {
    struct slot* other = &slots[pick(STREAMS)];
    if (other->stream != NULL) return;
    const int fd = dup(fileno(slot->stream));
    FILE* stream = fdopen(fd, some_mode());
    note("dup and fdopen %d %d", stream != NULL, stream == NULL ? errno : 0);
    if (stream == NULL)
        close(fd);
    else
        adopt(other, stream, 0);
}

static void names(void) {
    char from[4096];
    snprintf(from, sizeof from, "%s", name_of("narrow"));
    if (pick(3) == 0)
        note_result("unlink", unlink(from));
    else if (pick(2))
        note_result("rename", rename(from, name_of("narrow")));
    else
        note_content(from);
}

static void narrow_operation(struct slot* slot) {
    const unsigned which = pick(64);
    if (which < 22)
        put(slot);
    else if (which < 40)
        take(slot);
    else if (which < 49)
        move_narrow(slot);
    else if (which < 55)
        below(slot);
    else if (which == 57)
        reopen(slot);
    else if (which == 58)
        duplicate(slot);
    else if (which == 59)
        names();
    else if (which == 60)
        close_slot(slot);
    else {
        note("state %d %d", feof(slot->stream) != 0, ferror(slot->stream) != 0);
        if (pick(2)) clearerr(slot->stream);
    }
}
