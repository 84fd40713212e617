/** What every view is given. */

import type { Document } from "../data";
import type { Route } from "../route";
import type { Calls } from "../timeline/calls";

export interface Context {
    document: Document;
    calls: Calls | null;
    /** Goes elsewhere in the page, as a link would. */
    go: (route: Route) => void;
}

export interface View {
    element: HTMLElement;
    /** Called when the reader comes to the view, and when the address changes while it is in sight. */
    enter?: (route: Route) => void;
}
