/** What every view is given. */

import type { Document } from "../data";
import type { Route } from "../route";
import type { Calls } from "../timeline/calls";

export interface Context {
    document: Document;
    calls: Calls | null;
    /** Goes elsewhere in the page, as a link would. */
    go: (route: Route) => void;
    /** To be called when what View.state tells has changed. */
    changed: () => void;
}

/** Whether the timeline has anything to show: a source may only have counted calls. */
export function hasCalls({ calls }: Context): boolean {
    return calls !== null && calls.timeline.calls + calls.timeline.summed_calls > 0;
}

export interface View {
    element: HTMLElement;
    /** Called when the reader comes to the view, and when the address changes while it is in sight. */
    enter?: (route: Route) => void;
    /** Zoom, filter, selection: what `enter` needs to show the same again. Without it, the address stays as it is. */
    state?: () => Omit<Route, "tab">;
}
