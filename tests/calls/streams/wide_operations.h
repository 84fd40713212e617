// What a program does to a stream of wide characters. Where some take several bytes in the file, it goes to no other
// place than the beginning, nor where it was opened anew: from others, C libraries up to glibc 2.36 at least may not
// come back.
#pragma once

#include "narrow_operations.h"

static void open_wide(struct slot* slot) {
    const int simple = pick(2);
    char path[4096];
    snprintf(path, sizeof path, "%s/wide%u", directory, simple ? pick(2) : 2);
    const char* const modes[] = {"r", "r+", "w", "w+", "a", "a+", "r+,ccs=UTF-8", "w+,ccs=UTF-8", "a,ccs=utf-8"};
    const char* mode = modes[pick(9)];
    FILE* stream = fopen(path, mode);
    note("fopen %s %d %d", mode, stream != NULL, stream == NULL ? errno : 0);
    if (stream == NULL) return;
    note("fwide %d", fwide(stream, 1) > 0);
    adopt(slot, stream, 1);
    slot->simple = slot->goes = simple;
}

static wchar_t some_character(int simple) {
    static const wchar_t rare[] = L"äßéΩ€中\U0001F30A";
    if (!simple && pick(5) == 0) return rare[pick(7)];
    return pick(12) == 0 ? L'\n' : (wchar_t)(L' ' + pick(95));
}

static void put_wide(struct slot* slot) {
    const size_t count = 1 + pick(16) * pick(60);
    for (size_t i = 0; i < count; ++i) wide_data[i] = some_character(slot->simple);
    wide_data[count] = L'\0';
    turn(slot, 'w');
    switch (pick(3)) {
        case 0:
            note_result("fputws", fputws(wide_data, slot->stream) < 0 ? -1 : 0);
            break;
        case 1:
            for (size_t i = 0; i < count % 50; ++i) note("fputwc %x", (unsigned)fputwc(wide_data[i], slot->stream));
            break;
        default:
            note_result("fwprintf", fwprintf(slot->stream, L"%d %ls %5.2f\n", (int)pick(1000), wide_data, 0.25));
            break;
    }
}

static void take_wide(struct slot* slot) {
    turn(slot, 'r');
    switch (pick(4)) {
        case 0: {
            const wchar_t* got = fgetws(wide_data, 2 + (int)pick(400), slot->stream);
            note("fgetws %d %llx", got != NULL, got == NULL ? 0 : hash(wide_data, wcslen(wide_data) * sizeof(wchar_t)));
            break;
        }
        case 1:
            for (unsigned i = 0; i < 1 + pick(50); ++i) note("fgetwc %x", (unsigned)fgetwc(slot->stream));
            break;
        case 2: {
            int number = -1;
            wide_data[0] = L'\0';
            const int got = fwscanf(slot->stream, L"%50ls %d", wide_data, &number);
            note("fwscanf %d %d %llx", got, number, hash(wide_data, wcslen(wide_data) * sizeof(wchar_t)));
            break;
        }
        default: {
            const wint_t got = fgetwc(slot->stream);
            note("fgetwc %x", (unsigned)got);
            if (got == WEOF) break;
            note("ungetwc %x", (unsigned)ungetwc(got, slot->stream));
            note("fgetwc %x", (unsigned)fgetwc(slot->stream));
            break;
        }
    }
}

static void move_wide(struct slot* slot) {
    FILE* stream = slot->stream;
    const unsigned way = pick(slot->goes ? 7 : 3);
    if (way != 1 && way != 2 && way != 3) slot->direction = 0;
    switch (way) {
        case 0:
            rewind(stream);
            note("rewind");
            break;
        case 1:
            note_result("fflush", fflush(stream));
            break;
        case 2:
            slot->offset = ftell(stream);
            note_result("ftell", slot->offset);
            break;
        case 3:
            slot->has_place = fgetpos(stream, &slot->place) == 0;
            note("fgetpos %d", slot->has_place);
            break;
        case 4:
            if (slot->has_place) note_result("fsetpos", fsetpos(stream, &slot->place));
            break;
        case 5:
            note_result("fseek to end", fseek(stream, 0, SEEK_END));
            break;
        default:
            note_result("fseek", fseek(stream, slot->offset < 0 ? 0 : slot->offset, SEEK_SET));
            break;
    }
}

static void wide_operation(struct slot* slot) {
    const unsigned which = pick(32);
    if (which < 13)
        put_wide(slot);
    else if (which < 23)
        take_wide(slot);
    else if (which < 27)
        move_wide(slot);
    else if (which == 27)
        reopen(slot);
    else if (which == 28)
        note("narrow on wide %d", fputs("narrow", slot->stream) < 0);
    else if (which == 29)
        note_content(name_of("wide"));
    else if (which == 30)
        close_slot(slot);
    else {
        note("state %d %d", feof(slot->stream) != 0, ferror(slot->stream) != 0);
        clearerr(slot->stream);
    }
}
