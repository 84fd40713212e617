/** All calls of all ranks over time. */

import { h, nothing } from "../dom";
import { formatRoute, type Route } from "../route";
import { THEMES, levelName, type Scheme } from "../theme";
import { inProgress } from "../timeline/activity";
import { routeOf, sightOf, type Limits } from "../timeline/address";
import { callsWithin, laneOf, type Calls } from "../timeline/calls";
import { describeCall, describeCell, processName, type Description } from "../timeline/describe";
import { legend, type ColourBy } from "../timeline/legend";
import { pick } from "../timeline/pick";
import { spansOf } from "../timeline/spans";
import { Stage } from "../timeline/stage";
import { buildTree, type Tree } from "../timeline/tree";
import { keyed, type Span } from "../timeline/window";
import { filterRows } from "../table_rows";
import { count, moment, plural, seconds } from "../units";
import type { Context, View } from "./context";

const HELP =
    "Wheel: zoom in time; drag: move; Ctrl + wheel: zoom in ranks; Shift + wheel: move over ranks. Keys: ← → move, + − zoom in time, ↑ ↓ move over ranks, ] [ zoom in ranks, n p next and previous call of the chosen one's rank, Enter its parts, 0 everything.";

export interface TimelineView extends View {
    /** Colours changed. */
    themed: (scheme: Scheme) => void;
    paintNow: () => void;
}

export function timelineView(context: Context): TimelineView {
    const { calls } = context;
    if (!calls || !calls.timeline.processes.length || calls.timeline.calls + calls.timeline.summed_calls === 0) {
        const why = calls?.timeline.without_times
            ? `The source tells no times: ${plural(calls.timeline.without_times, "call")} cannot be shown.`
            : "No calls with times are in this data set.";
        return { element: h("div", {}, h("h2", {}, "Timeline"), nothing(why)), themed: () => {}, paintNow: () => {} };
    }
    return new Timeline(context, calls);
}

class Timeline implements TimelineView {
    readonly element: HTMLElement;
    private readonly stage: Stage;
    private readonly tree: Tree;
    private chosenFiles: Tree | null = null;
    private scheme: Scheme = "light";
    private colourBy: ColourBy = "kind";
    private shown: number[];
    private call: number | null = null;
    private readonly tip = h("div", { class: "tip", hidden: true });
    private readonly panel = h("div", { class: "detail-card call-panel", "aria-live": "polite" });
    private readonly sight = h("p", { class: "sight", role: "status" });
    private readonly key = h("ul", { class: "key" });
    private readonly search = h("input", {
        type: "search",
        id: "timeline-file",
        placeholder: "Part of a path",
        oninput: () => this.searched(),
    });
    private readonly colours = h(
        "select",
        { onchange: (event) => this.colour((event.target as HTMLSelectElement).value as ColourBy) },
        h("option", { value: "kind" }, "kind of call"),
        h("option", { value: "level" }, "level"),
    );
    private readonly boxes: HTMLInputElement[] = [];
    private readonly found = h("span", { class: "status", role: "status" });

    constructor(
        private readonly context: Context,
        private readonly calls: Calls,
    ) {
        const { timeline } = calls;
        this.tree = buildTree(spansOf(calls));
        this.shown = timeline.levels.map((_, index) => index);
        this.stage = new Stage({
            duration: timeline.duration_s,
            rows: timeline.processes.length,
            levels: timeline.levels.length,
            label: (row) => {
                const process = timeline.processes[row];
                return process ? (process.rank === null ? `proc. ${process.process}` : `rank ${process.rank}`) : "";
            },
            activity: inProgress(context.document.concurrency, timeline),
            moved: (time, rows) => this.tellSight(time, rows),
        });
        this.element = h(
            "div",
            {},
            h(
                "h2",
                {},
                `${plural(timeline.calls + timeline.summed_calls, "call")} of ${plural(timeline.processes.length, "process", "processes")}`,
            ),
            this.notes(),
            this.toolbar(),
            this.picture(),
            this.sight,
            this.key,
            this.panel,
            h("p", { class: "help" }, HELP),
        );
        this.panel.append(h("p", {}, "Point at a call to see what it is; click it, or press n, to keep it here."));
        this.refresh();
    }

    enter(route: Route): void {
        const ofFile = this.context.document.files.find(({ file }) => file === route.file)?.path;
        const words = route.filter ?? ofFile;
        if (words !== undefined && words !== this.search.value) {
            this.search.value = words;
            this.searched();
        }
        if (route.levels !== undefined) this.showLevels(route.levels.split(","));
        if (route.colour === "kind" || route.colour === "level") {
            this.colours.value = route.colour;
            this.colour(route.colour);
        }
        const { processes } = this.calls.timeline;
        const row =
            route.rank === undefined
                ? -1
                : processes.findIndex(({ rank, process }) => (rank ?? process) === route.rank);
        const sight = sightOf(route, row, this.stage, this.limits);
        if (sight) this.stage.look(sight.time, sight.rows);
        if (route.call !== undefined && route.call < this.calls.start.length) this.choose(route.call);
    }

    state(): Omit<Route, "tab"> {
        const { levels } = this.calls.timeline;
        return {
            ...routeOf(this.stage, this.limits),
            ...(this.search.value ? { filter: this.search.value } : {}),
            ...(this.shown.length === levels.length
                ? {}
                : { levels: this.shown.map((index) => levels[index]).join(",") }),
            ...(this.colourBy === "kind" ? {} : { colour: this.colourBy }),
            ...(this.call === null ? {} : { call: this.call }),
        };
    }

    themed(scheme: Scheme): void {
        this.scheme = scheme;
        this.refresh();
    }

    paintNow(): void {
        this.stage.paintNow();
    }

    private notes(): HTMLElement | null {
        const { summed_calls: summed, shorter_than_s: limit, without_times: without } = this.calls.timeline;
        const { setup_calls: setup } = this.context.document.run;
        const notes = [
            setup
                ? `${plural(setup, "call")} of MPI's start and end are among them; the other views leave these out.`
                : null,
            summed
                ? `${plural(summed, "call")} shorter than ${seconds(limit)} are summed up in intervals of ${seconds(this.calls.timeline.bin_s)}; a search for files does not find them.`
                : null,
            without ? `${plural(without, "call")} cannot be shown: the source tells no times for them.` : null,
        ].filter((note) => note !== null);
        return notes.length ? h("p", { class: "note" }, notes.join(" ")) : null;
    }

    private toolbar(): HTMLElement {
        const { levels } = this.calls.timeline;
        const button = (text: string, label: string, key: string) =>
            h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.press(key) }, text);
        const level = (name: string, index: number) => {
            this.boxes[index] = h("input", {
                type: "checkbox",
                checked: true,
                onchange: (event) => this.toggle(index, (event.target as HTMLInputElement).checked),
            });
            return h("label", { class: "check" }, this.boxes[index], levelName(name));
        };
        return h(
            "div",
            { class: "toolbar", role: "group", "aria-label": "Timeline" },
            h(
                "span",
                { class: "buttons" },
                button("+", "Zoom in", "+"),
                button("−", "Zoom out", "-"),
                button("←", "Earlier", "ArrowLeft"),
                button("→", "Later", "ArrowRight"),
                button("All", "The whole run, all ranks", "0"),
            ),
            h("fieldset", {}, h("legend", {}, "Levels"), ...levels.map(level)),
            h("label", { class: "field" }, "Colour by ", this.colours),
            h("label", { class: "field", for: "timeline-file" }, "Only calls on file ", this.search),
            this.found,
        );
    }

    private picture(): HTMLElement {
        const { element } = this.stage;
        element.tabIndex = 0;
        element.setAttribute("role", "application");
        element.setAttribute("aria-label", "Timeline of all calls. " + HELP);
        element.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (this.press(event.key)) event.preventDefault();
        });
        // Under the capture of ECharts, which takes the pointer for itself.
        element.addEventListener("pointermove", (event) => this.point(event), true);
        element.addEventListener("pointerleave", () => (this.tip.hidden = true));
        let down = { x: 0, y: 0 };
        element.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }), true);
        element.addEventListener("pointerup", (event) => {
            if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) this.click(event);
        }, true); // prettier-ignore
        element.append(this.tip);
        return element;
    }

    private press(key: string): boolean {
        if (key === "n" || key === "p") this.step(key === "n" ? 1 : -1);
        else if (key === "Enter" && this.call !== null) this.context.go({ tab: "calls", call: this.call });
        else {
            const next = keyed(key, this.stage.time, this.stage.rows, this.limits);
            if (!next) return false;
            this.stage.look(next.time, next.rows);
        }
        return true;
    }

    private toggle(level: number, on: boolean): void {
        this.shown = this.calls.timeline.levels
            .map((_, index) => index)
            .filter((index) => (index === level ? on : this.shown.includes(index)));
        this.refresh();
    }

    private get limits(): Limits {
        const { duration_s: duration, processes } = this.calls.timeline;
        return { duration, rows: processes.length, least: this.stage.least };
    }

    private showLevels(names: readonly string[]): void {
        const { levels } = this.calls.timeline;
        this.shown = levels.flatMap((level, index) => (names.includes(level) ? [index] : []));
        this.boxes.forEach((box, index) => (box.checked = this.shown.includes(index)));
        this.refresh();
    }

    private colour(by: ColourBy): void {
        this.colourBy = by;
        this.refresh();
    }

    private searched(): void {
        const text = this.search.value.trim();
        const files = text ? filterRows(this.context.document.files, ({ path }) => path, text) : [];
        const wanted = new Set(files.map(({ file }) => file));
        this.chosenFiles = text ? buildTree(spansOf(this.calls, (call) => wanted.has(this.calls.file[call]!))) : null;
        const n = this.chosenFiles?.spans.start.length ?? 0;
        this.found.textContent = text ? `${plural(files.length, "file")}, ${plural(n, "call")}` : "";
        this.refresh();
    }

    private refresh(): void {
        const theme = THEMES[this.scheme];
        const { palette, entries } = legend(this.calls.timeline, theme, this.colourBy, this.shown);
        this.key.replaceChildren(
            ...entries.map(({ colour, name }) => h("li", {}, h("span", { style: `background:${colour}` }), name)),
            h("li", { class: "aside" }, "fainter: less of the time is taken"),
        );
        this.stage.show({ tree: this.tree, chosen: this.chosenFiles, shownLevels: this.shown, palette, theme });
    }

    private tellSight(time: Span, rows: Span): void {
        this.context.changed();
        const span = time.to - time.from;
        const first = Math.floor(rows.from);
        const last = Math.min(this.calls.timeline.processes.length, Math.ceil(rows.to)) - 1;
        const ranks =
            first === last
                ? processName(this.calls, first)
                : `${processName(this.calls, first)} to ${processName(this.calls, last)}`;
        const strips = this.shown.map((level) => levelName(this.calls.timeline.levels[level]!)).join(", ");
        this.sight.textContent =
            `In sight: ${moment(time.from, span)} to ${moment(time.to, span)} (${seconds(span)}), ${ranks}.` +
            (this.stage.apart ? ` The strips of a rank, from the top: ${strips}.` : "");
    }

    /** What the pointer is at: a call, a bin of many, or nothing. */
    private spanAt(event: PointerEvent): { call: number | null; description: Description } | null {
        const place = this.stage.at(event.clientX, event.clientY);
        if (!place) return null;
        const tree = this.chosenFiles ?? this.tree;
        const picked = pick(tree, place.band, place.second * 1e9, place.reach * 1e9);
        if (!picked) return null;
        const reference = tree.spans.reference[picked.span]!;
        const description =
            reference >= 0
                ? describeCall(this.calls, reference, this.context.document.files)
                : describeCell(this.calls, -1 - reference);
        if (picked.near > 1)
            description.lines.push([
                "beside it",
                `${picked.near >= 3000 ? "more than " : ""}${count(picked.near - 1)} within these pixels: zoom in`,
            ]);
        return { call: reference >= 0 ? reference : null, description };
    }

    private point(event: PointerEvent): void {
        const at = event.buttons ? null : this.spanAt(event);
        this.tip.hidden = !at;
        if (!at) return;
        this.tip.replaceChildren(h("strong", {}, at.description.title), lines(at.description));
        const box = this.stage.element.getBoundingClientRect();
        const x = event.clientX - box.left;
        const left = x > box.width / 2;
        this.tip.style.left = left ? "" : `${x + 14}px`;
        this.tip.style.right = left ? `${box.width - x + 14}px` : "";
        this.tip.style.top = `${Math.min(event.clientY - box.top + 10, box.height - this.tip.offsetHeight - 4)}px`;
    }

    private click(event: PointerEvent): void {
        const at = this.spanAt(event);
        if (!at) return;
        if (at.call !== null) this.choose(at.call);
        else this.panel.replaceChildren(h("h3", {}, at.description.title), lines(at.description));
    }

    private choose(call: number): void {
        this.call = call;
        this.context.changed();
        const description = describeCall(this.calls, call, this.context.document.files);
        const below = callsWithin(this.calls, call, 10_000);
        this.panel.replaceChildren(
            h("h3", {}, description.title),
            lines(description),
            below.length
                ? h(
                      "p",
                      {},
                      h(
                          "a",
                          { href: formatRoute({ tab: "calls", call }) },
                          `The ${plural(below.length, "call")} it was made of`,
                      ),
                  )
                : "",
        );
    }

    /** The next or previous call of the lane of the chosen one; of the first in sight, when none is chosen. */
    private step(by: number): void {
        const { calls } = this;
        if (this.call === null) {
            const first = this.firstInSight();
            if (first !== null) this.choose(first);
            return;
        }
        const lane = laneOf(calls, this.call);
        const next = this.call + by;
        if (next < calls.lane[lane]! || next >= calls.lane[lane + 1]!) return;
        this.choose(next);
        const { from, to } = this.stage.time;
        const start = calls.start[next]! / 1e9;
        if (start < from || start > to) {
            const half = (to - from) / 2;
            const { duration_s: duration } = calls.timeline;
            const left = Math.min(Math.max(0, start - half), duration - 2 * half);
            this.stage.look({ from: left, to: left + 2 * half }, this.stage.rows);
        }
    }

    private firstInSight(): number | null {
        const { from, to } = this.stage.time;
        const levels = this.calls.timeline.levels.length;
        const row = Math.floor(this.stage.rows.from);
        for (const level of this.shown) {
            const lane = row * levels + level;
            for (let call = this.calls.lane[lane]!; call < this.calls.lane[lane + 1]!; call++) {
                const start = this.calls.start[call]! / 1e9;
                if (start >= from && start <= to) return call;
            }
        }
        return null;
    }
}

function lines({ lines: entries }: Description): HTMLElement {
    return h(
        "dl",
        { class: "facts" },
        ...entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
}
