/** The run's I/O phases: how far the ranks (or processes) lie apart within each, and the phases from one another. */

import { chart, drawCharts, forgetCharts } from "../chart";
import type { PhaseSketch, Straggler } from "../data";
import { h, nothing } from "../dom";
import { gridShape, phaseByRank, phaseDistribution, phaseGrid, throughputRange } from "../options/phases";
import { formatRoute } from "../route";
import { table } from "../table";
import { ABSENT, count, number, percent, plural, rate, seconds, size } from "../units";
import { capital, whoOf, type Who } from "../who";
import type { Context, View } from "./context";
import { rampLegend } from "./ramp";

const PER_PAGE = 40;

const KINDS: Record<string, string> = { write: "writes", read: "reads", all: "all I/O calls" };

export function phasesView(context: Context): View {
    const phases = context.document.phases.filter(({ seconds }) => Math.max(0, ...seconds) > 0);
    if (!phases.length) {
        const why = context.document.run.counters_only
            ? "The source kept no single calls: when the run did its I/O, and in which phases, is not known."
            : "No I/O phases in this run: no reads or writes with times were recorded.";
        return { element: h("div", {}, h("h2", {}, "Phases"), nothing(why)) };
    }
    const kinds = [...new Set(phases.map(({ kind }) => kind))];
    const place = h("div");
    let kind = kinds[0]!;
    let chosen: number | undefined;
    const selected = (number: number) => {
        chosen = number;
        context.changed();
    };
    const show = () =>
        replace(
            place,
            ...phasesOfKind(
                context,
                phases.filter((phase) => phase.kind === kind),
                kind,
                chosen,
                selected,
            ),
        );
    const change = (event: Event) => {
        kind = (event.target as HTMLSelectElement).value;
        show();
        context.changed();
    };
    const choice = h("select", { onchange: change }, ...kinds.map((k) => h("option", { value: k }, KINDS[k] ?? k)));
    const bursts = new Set(phases.map(({ number }) => number)).size;
    show();
    return {
        element: h(
            "div",
            {},
            h("h2", {}, plural(bursts, "I/O phase")),
            kinds.length > 1 ? h("label", { class: "field" }, "Time and bytes of ", choice) : null,
            place,
        ),
        enter: ({ phase, kind: wanted }) => {
            const other = wanted !== undefined && wanted !== kind && kinds.includes(wanted);
            if (!other && (phase === undefined || phase === chosen)) return;
            if (other) choice.value = kind = wanted;
            chosen = phase ?? chosen;
            show();
        },
        state: () => ({
            ...(chosen === undefined ? {} : { phase: chosen }),
            ...(kind === kinds[0] ? {} : { kind }),
        }),
    };
}

/** All there is to see of the phases of one kind; `wanted` is chosen first, else the one with the widest spread. */
function phasesOfKind(
    context: Context,
    phases: PhaseSketch[],
    kind: string,
    wanted: number | undefined,
    selected: (phase: number) => void,
): HTMLElement[] {
    const first =
        phases.find(({ number }) => number === wanted) ??
        phases.reduce((a, b) => ((b.variation ?? 0) > (a.variation ?? 0) ? b : a));
    const who = whoOf(context.document);
    let page = Math.floor(phases.indexOf(first) / PER_PAGE);
    const grid = h("div");
    const detail = h("div", { "aria-live": "polite" });
    const show = (phase: PhaseSketch) => {
        replace(detail, ...phaseDetail(context, phases, phase, who));
        drawGrid(phase.number);
    };
    const select = (phase: PhaseSketch) => {
        show(phase);
        selected(phase.number);
    };
    const turn = (next: number, selected: number) => {
        page = next;
        drawGrid(selected);
    };
    const drawGrid = (selected: number) =>
        replace(
            grid,
            phasePictures(phases, page, selected, select, (next) => turn(next, selected), who),
        );
    show(first);
    const stragglers = context.document.stragglers.filter((straggler) => straggler.kind === kind);
    return [grid, detail, stragglerTable(stragglers, who), phaseTable(context, phases, select, who)];
}

function replace(place: HTMLElement, ...children: HTMLElement[]): void {
    forgetCharts(place);
    place.replaceChildren(...children);
    drawCharts(place);
}

function phasePictures(
    all: PhaseSketch[],
    page: number,
    selected: number,
    select: (phase: PhaseSketch) => void,
    turn: (page: number) => void,
    who: Who,
): HTMLElement {
    const phases = all.slice(page * PER_PAGE, (page + 1) * PER_PAGE);
    const range = throughputRange(all);
    const pages = Math.ceil(all.length / PER_PAGE);
    return h(
        "div",
        {},
        chart({
            title: `${capital(who.many)} by their I/O time, phase by phase`,
            note: `Each bar is a ${who.one}, the slowest on top; the slowest fills the width, its time stands above. A full rectangle: all took equally long. The colour is the phase's throughput: its bytes over the I/O time of the slowest ${who.one}.`,
            crisp: true,
            height: (width) => gridShape(width, phases.length).height,
            option: (theme, width) => phaseGrid(theme, width, phases, range, selected, who),
            click: ({ seriesIndex }) => {
                const phase = phases[seriesIndex ?? -1];
                if (phase) select(phase);
            },
        }),
        h(
            "div",
            { class: "under-chart" },
            rampLegend(range),
            pages > 1
                ? h(
                      "span",
                      { class: "pages" },
                      h(
                          "button",
                          { type: "button", disabled: page === 0, onclick: () => turn(page - 1) },
                          "Earlier phases",
                      ),
                      ` ${page + 1} of ${pages} `,
                      h(
                          "button",
                          { type: "button", disabled: page === pages - 1, onclick: () => turn(page + 1) },
                          "Later phases",
                      ),
                  )
                : null,
        ),
    );
}

function phaseDetail(context: Context, phases: PhaseSketch[], phase: PhaseSketch, who: Who): HTMLElement[] {
    return [
        h(
            "h3",
            { class: "chosen" },
            `${phaseWords(phase, who)} `,
            context.calls
                ? h(
                      "a",
                      { href: formatRoute({ tab: "timeline", from: phase.start_s, to: phase.end_s }) },
                      "on the timeline",
                  )
                : null,
        ),
        phase.rank_count === 1
            ? nothing(alone(phase, who))
            : h(
                  "div",
                  { class: "pair" },
                  chart({
                      title: `How many ${who.many} were done after how long, phase ${phase.number} and the others`,
                      height: 260,
                      option: (theme) => phaseDistribution(theme, phases, phase.number, who),
                  }),
                  chart({
                      title: `I/O time of each ${who.one} in phase ${phase.number}`,
                      note: `Orange: more than 1.5 times the median.${some(phase, who)}`,
                      height: 236,
                      option: (theme) => phaseByRank(theme, phase, who),
                  }),
              ),
    ];
}

/** How long the phase lasted, and over which time its throughput is: not over that one. */
export function phaseWords(
    { number, bytes, start_s, end_s, seconds: times, throughput }: PhaseSketch,
    who: Who,
): string {
    const lasted = `Phase ${number}: ${size(bytes)} in ${seconds(end_s - start_s)}`;
    if (throughput === null) return lasted;
    return `${lasted}; ${rate(throughput)} over the ${seconds(Math.max(...times))} of I/O of the slowest ${who.one}`;
}

/** Of one there is no distribution. */
function alone({ ranks, median_s }: PhaseSketch, { one }: Who): string {
    return `${capital(one)} ${ranks[0]} alone did this phase's I/O, in ${seconds(median_s)}: there is no other ${one} to compare it with.`;
}

/** Says so when not all of them are in the page. */
function some({ ranks, rank_count }: PhaseSketch, { many }: Who): string {
    if (ranks.length >= rank_count) return "";
    return ` Shown are ${count(ranks.length)} of ${count(rank_count)} ${many}: spread over their order by time, and the slowest.`;
}

function stragglerTable(stragglers: readonly Straggler[], who: Who): HTMLElement {
    return table({
        caption: `${capital(who.many)} that are slow again and again`,
        rows: stragglers,
        columns: [
            {
                key: "rank",
                title: capital(who.one),
                value: (s) => s.rank,
                show: (s) => h("a", { href: formatRoute({ tab: "timeline", rank: s.rank }) }, String(s.rank)),
            },
            { key: "host", title: "Node", value: (s) => s.host },
            {
                key: "slow",
                title: "Slow in",
                value: (s) => s.slow_phases / s.phases,
                show: (s) => `${s.slow_phases} of ${plural(s.phases, "phase")}`,
            },
            {
                key: "factor",
                title: "Time over the median",
                value: (s) => s.factor,
                show: (s) => `${number(s.factor)} ×`,
            },
            {
                key: "bytes",
                title: "Bytes over the median",
                hint: `as large as its time: the ${who.one} is slow because it has more to do`,
                value: (s) => s.bytes_factor,
                show: (s) => (s.bytes_factor === null ? ABSENT : `${number(s.bytes_factor)} ×`),
            },
            {
                key: "lost",
                title: "Lost",
                hint: "its time beyond the median, summed over the phases",
                value: (s) => s.seconds_lost,
                show: (s) => seconds(s.seconds_lost),
            },
        ],
        sorting: { key: "lost", descending: true },
        empty: `No ${who.one} is slow again and again.`,
    });
}

function phaseTable(
    context: Context,
    phases: PhaseSketch[],
    select: (phase: PhaseSketch) => void,
    who: Who,
): HTMLElement {
    return table({
        caption: "Phases",
        rows: phases,
        columns: [
            { key: "number", title: "Phase", value: (p) => p.number, show: (p) => count(p.number) },
            { key: "kind", title: "Kind", value: (p) => p.kind },
            {
                key: "start",
                title: "Began at",
                value: (p) => p.start_s,
                show: (p) =>
                    context.calls
                        ? h(
                              "a",
                              { href: formatRoute({ tab: "timeline", from: p.start_s, to: p.end_s }) },
                              seconds(p.start_s),
                          )
                        : seconds(p.start_s),
            },
            {
                key: "length",
                title: "Took",
                value: (p) => p.end_s - p.start_s,
                show: (p) => seconds(p.end_s - p.start_s),
            },
            { key: "bytes", title: "Bytes", value: (p) => p.bytes, show: (p) => size(p.bytes) },
            {
                key: "throughput",
                title: "Throughput",
                hint: `bytes over the I/O time of the slowest ${who.one}`,
                value: (p) => p.throughput,
                show: (p) => rate(p.throughput),
            },
            {
                key: "median",
                title: `Median ${who.one}`,
                value: (p) => p.median_s,
                show: (p) => seconds(p.median_s),
            },
            {
                key: "slowest",
                title: `Slowest ${who.one}`,
                value: (p) => Math.max(...p.seconds),
                show: (p) =>
                    `${seconds(Math.max(...p.seconds))} (${p.ranks[p.seconds.indexOf(Math.max(...p.seconds))]})`,
            },
            {
                key: "variation",
                title: "Variation",
                hint: `coefficient of variation of the times of the ${who.many}`,
                value: (p) => p.variation,
                show: (p) => percent(p.variation),
            },
        ],
        sorting: { key: "number", descending: false },
        select,
        empty: "",
    });
}
