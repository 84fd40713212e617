/** The frame around the views: title, tabs, theme, print. */

import { drawCharts, redrawCharts } from "./chart";
import type { Document } from "./data";
import { h } from "./dom";
import { TABS, formatRoute, parseRoute, type Route, type Tab } from "./route";
import { applyTheme, type Scheme } from "./theme";
import type { Calls } from "./timeline/calls";
import { callsView } from "./views/calls";
import type { Context, View } from "./views/context";
import { filesView } from "./views/files";
import { findingsView } from "./views/findings";
import { overviewView } from "./views/overview";
import { phasesView } from "./views/phases";
import { predictabilityView } from "./views/predictability";
import { runsView } from "./views/runs";
import { hasServers, serversView } from "./views/servers";
import { timelineView, type TimelineView } from "./views/timeline";

const TITLES: Record<Tab, string> = {
    overview: "Overview",
    findings: "Findings",
    phases: "Phases",
    timeline: "Timeline",
    files: "Files",
    calls: "Calls",
    servers: "Servers",
    predictability: "Predictability",
    runs: "Runs",
};

const MAKERS: Record<Tab, (context: Context) => View> = {
    overview: overviewView,
    findings: findingsView,
    phases: phasesView,
    timeline: timelineView,
    files: filesView,
    calls: callsView,
    servers: serversView,
    predictability: predictabilityView,
    runs: runsView,
};

const COUNTERS_ONLY =
    "Counters only: the source kept no single calls. Numbers are sums that it counted itself; – stands for what it did not count.";

const REMEMBERED = "halcyon-scheme";

/** Milliseconds between two writes of the address: browsers refuse more than some hundred in ten seconds. */
const ADDRESS_EVERY = 400;

/** Builds the page into `place`, follows the address from then on, and keeps in it what the reader sees. */
export class Shell {
    private readonly views = new Map<Tab, View>();
    private readonly tabs = new Map<Tab, HTMLElement>();
    private readonly panels = new Map<Tab, HTMLElement>();
    private readonly dark = matchMedia("(prefers-color-scheme: dark)");
    private wish: Scheme | null = remembered();
    private readonly switch = h("button", { type: "button", class: "scheme", onclick: () => this.switchScheme() });
    /** Those that the page has data for: of one run, or of several. */
    private readonly shown: Tab[];
    private current: Tab;

    private readonly context: Context;
    private addressing = 0;

    constructor(document_: Document, calls: Calls | null, place: HTMLElement) {
        const context = (this.context = {
            document: document_,
            calls,
            go: (route: Route) => (location.hash = formatRoute(route)),
            changed: () => {
                this.addressing ||= window.setTimeout(() => this.address(), ADDRESS_EVERY);
            },
        });
        const several = context.document.experiment !== null;
        this.shown = TABS.filter((tab) => (tab === "runs") === several && (tab !== "servers" || hasServers(context)));
        this.current = this.shown[0]!;
        for (const tab of this.shown) {
            const selected = tab === this.current;
            const link = h(
                "a",
                {
                    role: "tab",
                    id: `tab-${tab}`,
                    href: formatRoute({ tab }),
                    "aria-controls": `panel-${tab}`,
                    "aria-selected": String(selected),
                    tabindex: selected ? 0 : -1,
                },
                TITLES[tab],
                this.badge(tab),
            );
            link.addEventListener("keydown", (event) => this.walk(event, tab));
            this.tabs.set(tab, link);
            this.panels.set(
                tab,
                h("section", {
                    role: "tabpanel",
                    id: `panel-${tab}`,
                    "aria-labelledby": `tab-${tab}`,
                    hidden: !selected,
                    "data-title": TITLES[tab],
                }),
            );
        }
        const { run } = context.document;
        document.title = `${run.title} – Halcyon`;
        place.replaceChildren(
            h(
                "header",
                {},
                h("h1", {}, run.title, h("small", {}, several ? "I/O of several runs" : "I/O of the run")),
                h("nav", { role: "tablist", "aria-label": "Views" }, ...this.tabs.values()),
                this.switch,
            ),
            ...(run.counters_only ? [h("p", { class: "banner", role: "note" }, COUNTERS_ONLY)] : []),
            h("main", {}, ...this.panels.values()),
            h(
                "footer",
                {},
                `${several ? "Compared:" : "Recorded by"} ${run.source}. This page holds all its data and loads nothing.`,
            ),
        );
        this.dark.addEventListener("change", () => this.themed());
        addEventListener("hashchange", () => this.follow());
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
        this.themed();
        this.follow();
    }

    private get scheme(): Scheme {
        return this.wish ?? (this.dark.matches ? "dark" : "light");
    }

    private badge(tab: Tab): HTMLElement | null {
        const n = tab === "findings" ? this.context.document.findings.length : 0;
        return n ? h("span", { class: "badge" }, String(n)) : null;
    }

    private follow(): void {
        const route = parseRoute(location.hash);
        this.show(this.shown.includes(route.tab) ? route : { tab: this.shown[0]! });
    }

    private show(route: Route): void {
        this.current = route.tab;
        for (const tab of this.shown) {
            const selected = tab === route.tab;
            this.tabs.get(tab)!.setAttribute("aria-selected", String(selected));
            this.tabs.get(tab)!.tabIndex = selected ? 0 : -1;
            this.panels.get(tab)!.hidden = !selected;
        }
        const view = this.view(route.tab);
        drawCharts(this.panels.get(route.tab)!);
        view.enter?.(route);
        this.address();
    }

    /** Writes what the reader sees into the address, as no new entry of the history. */
    private address(): void {
        clearTimeout(this.addressing);
        this.addressing = 0;
        const state = this.views.get(this.current)?.state?.();
        if (!state) return;
        const hash = formatRoute({ tab: this.current, ...state });
        if (hash !== location.hash) history.replaceState(history.state, "", hash);
    }

    /** The view, made when it is first asked for. */
    private view(tab: Tab): View {
        let view = this.views.get(tab);
        if (!view) {
            view = MAKERS[tab](this.context);
            this.views.set(tab, view);
            this.panels.get(tab)!.append(view.element);
            if ("themed" in view) (view as TimelineView).themed(this.scheme);
        }
        return view;
    }

    private walk(event: KeyboardEvent, tab: Tab): void {
        const at = this.shown.indexOf(tab);
        const last = this.shown.length - 1;
        const to = { ArrowRight: at + 1, ArrowLeft: at + last, Home: 0, End: last }[event.key];
        if (event.key === " ") location.hash = formatRoute({ tab });
        else if (to !== undefined) {
            const next = this.shown[to % this.shown.length]!;
            location.hash = formatRoute({ tab: next });
            this.tabs.get(next)!.focus();
        } else return;
        event.preventDefault();
    }

    private switchScheme(): void {
        this.wish = this.scheme === "dark" ? "light" : "dark";
        try {
            localStorage.setItem(REMEMBERED, this.wish);
        } catch {
            // Pages from disk may not keep anything; the choice then holds until the page is closed.
        }
        this.themed();
    }

    private themed(scheme: Scheme = this.scheme): void {
        applyTheme(scheme);
        this.switch.textContent = scheme === "dark" ? "Light" : "Dark";
        this.switch.setAttribute("aria-label", `Switch to ${scheme === "dark" ? "light" : "dark"} colours`);
        redrawCharts(scheme);
        for (const view of this.views.values()) if ("themed" in view) (view as TimelineView).themed(scheme);
    }

    /** On paper: all views one after the other, dark on light, as wide as the paper. */
    private print(begins: boolean): void {
        document.body.classList.toggle("printing", begins);
        for (const tab of this.shown) {
            if (begins) this.view(tab);
            this.panels.get(tab)!.hidden = !begins && tab !== this.current;
        }
        for (const details of document.querySelectorAll("details")) {
            if (begins && !details.open) details.dataset.closed = "";
            details.open = begins || !("closed" in details.dataset);
            if (!begins) delete details.dataset.closed;
        }
        this.themed(begins ? "light" : this.scheme);
        if (begins) for (const panel of this.panels.values()) drawCharts(panel);
        (this.views.get("timeline") as TimelineView | undefined)?.paintNow();
    }
}

function remembered(): Scheme | null {
    try {
        const wish = localStorage.getItem(REMEMBERED);
        return wish === "dark" || wish === "light" ? wish : null;
    } catch {
        return null;
    }
}
