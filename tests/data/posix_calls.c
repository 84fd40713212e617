#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char bytes[4096];
static void* reader(void* unused) {
    int fd = open("/srv/run/data/a.bin", O_RDONLY);
    for (int i = 0; i < 3; i++) pread(fd, bytes, 500, i * 700);
    close(fd);
    return unused;
}
int main(void) {
    mkdir("/srv/run/data", 0755);
    int fd = open("/srv/run/data/a.bin", O_CREAT | O_RDWR | O_TRUNC, 0644);
    for (int i = 0; i < 4; i++) pwrite(fd, bytes, 1000, i * 1000);
    write(fd, bytes, 500);
    lseek(fd, 100, SEEK_SET);
    read(fd, bytes, 200);
    pread(fd, bytes, 50, 3990);
    fsync(fd);
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_join(thread, NULL);
    ftruncate(fd, 3000);
    struct stat found;
    stat("/srv/run/data/a.bin", &found);
    close(fd);
    open("/srv/run/data/missing", O_RDONLY);
    FILE* file = fopen("/srv/run/data/b.txt", "w");
    for (int i = 0; i < 3; i++) fwrite(bytes, 2, 1500, file);
    fseek(file, 0, SEEK_SET);
    fclose(file);
    unlink("/srv/run/data/b.txt");
    return 0;
}
