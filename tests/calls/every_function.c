// Calls every function that is interposed, by each of its names, on a file named after the name, and says in the
// file $TOLD what each must have moved: "<name> read|write|copy <bytes>". Usage: every_function <directory>
#define _GNU_SOURCE
#include "every_function/files.h"
#include "every_function/processes.h"
#include "every_function/streams.h"

int main(int count, char** words) {
    directory = words[count - 1];
    memset(text, 'x', sizeof text - 1);
    setlocale(LC_ALL, "C.UTF-8");
    opening();
    transferring();
    naming();
    asynchronous();
    jumping();
    unloading();
    leaving();
    reading_streams();
    reading_input();
    writing_streams();
    writing_output();
    writing_messages();
    starting();
    const char* name = "fcloseall";
    CHECK(CALL(int (*)(void))() == 0);
    return 0;
}
