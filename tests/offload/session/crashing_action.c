/* An action that ends whatever process runs it. */
#include <stdlib.h>

#include "halcyon/action.h"

int crashing_action(const halcyon_action_context* context) {
    if (context->abi == HALCYON_ACTION_ABI) abort();
    return 1;
}
