// Removes a file that it has open, and ends, or is killed ("killed"), before a child, which does nothing but wait for
// that. Arguments: the file; what it does.
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int main(int count, char** arguments) {
    const int file = open(arguments[1], O_CREAT | O_RDWR, 0644);
    if (write(file, "text", 4) != 4 || unlink(arguments[1]) != 0) return 1;
    const pid_t parent = getpid();
    if (fork() == 0) {
        const struct timespec moment = {0, 1000000};
        while (getppid() == parent) nanosleep(&moment, NULL);
        _exit(0);
    }
    if (count > 2) kill(parent, SIGKILL);
    return 0;
}
