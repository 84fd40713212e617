/* A store module of another release of Halcyon, or (without INTERFACE_VERSION) of one that had no version yet. Whoever
 * calls it is lost. */
#include <stdlib.h>

#ifdef INTERFACE_VERSION
const unsigned halcyon_store_interface[2] = {INTERFACE_VERSION, 17};
#endif

void* halcyon_make_file_store(void) {
    abort();
}
void* halcyon_make_view_builder(const char* directory, const char* simulation) {
    abort();
}
