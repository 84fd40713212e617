// Functions of the C library that look at files by ways of their own. Usage: inside <directory>
#define _GNU_SOURCE
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int visit(const char* path, const struct stat* file, int what, struct FTW* where) {
    return (void)path, (void)file, (void)what, (void)where, 0;
}

int main(int count, char** words) {
    (void)count;
    static char path[4096], found[4096];
    char* roots[] = {words[1], NULL};
    struct dirent** entries;
    glob_t names;
    if (nftw(words[1], visit, 8, FTW_PHYS) != 0 || scandir(words[1], &entries, NULL, alphasort) < 0) abort();
    snprintf(path, sizeof path, "%s/d*/f*", words[1]);
    if (glob(path, 0, NULL, &names) != 0 || names.gl_pathc != 1) abort();
    FTS* tree = fts_open(roots, FTS_PHYSICAL, NULL);
    while (fts_read(tree) != NULL) continue;
    fts_close(tree);
    snprintf(path, sizeof path, "%s/link/file", words[1]);
    if (realpath(path, found) == NULL || chdir(words[1]) != 0 || getcwd(found, sizeof found) == NULL) abort();
    FILE* stream = fopen("directory/file", "r");
    if (stream == NULL || fgetc(stream) != 'x' || fclose(stream) != 0) abort();
    DIR* directory = opendir("directory");
    while (readdir(directory) != NULL) continue;
    return closedir(directory);
}
