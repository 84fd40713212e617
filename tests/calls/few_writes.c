// Appends ten bytes to a file, one by one.
#include <fcntl.h>
#include <unistd.h>

int main(int count, char** words) {
    if (count < 2) return 2;
    const int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < 10; ++i) {
        if (write(file, "x", 1) != 1) return 2;
    }
    return close(file) == 0 ? 0 : 2;
}
