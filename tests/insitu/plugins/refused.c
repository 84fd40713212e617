/* What modules export that are no plugins of this Halcyon. */
#include "halcyon/action.h"

/** As up to ABI 2. */
__attribute__((visibility("default"))) int bare_function(const void* context) {
    return context == NULL;
}

static int run(void* state, const halcyon_action_context* now) {
    return state != NULL && now != NULL;
}

__attribute__((visibility("default"))) const halcyon_action_plugin of_tomorrow = {
    sizeof(halcyon_action_plugin), HALCYON_ACTION_MAGIC, HALCYON_ACTION_ABI + 1, NULL, run, NULL};

__attribute__((visibility("default"))) const long no_plugin[16] = {1};

HALCYON_PLUGIN(without_run, NULL, NULL, NULL);
