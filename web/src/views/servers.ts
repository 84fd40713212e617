/** What the servers and storage targets were asked for: how evenly, and when. */

import { chart, drawCharts, forgetCharts } from "../chart";
import type { Server, Servers } from "../data";
import { h } from "../dom";
import { serverLoad } from "../options/bars";
import { cardiogram, serverMap } from "../options/time_series";
import { table } from "../table";
import { count, number, plural, size } from "../units";
import type { Context, View } from "./context";

/** Beyond so many, their cells are too many for SVG. */
const MANY = 40;

/** Whether the layout of any file over servers is known; else the files say that none is. */
export function hasServers({ document }: Context): boolean {
    return (document.servers?.servers.length ?? 0) > 0;
}

export function serversView(context: Context): View {
    const { run } = context.document;
    const load = context.document.servers!;
    const { servers, bin_s } = load;
    if (load.counted) return { element: totals(load) };
    const end = Math.max(run.duration_s ?? 0, bin_s * Math.max(...servers.map(({ read }) => read.length)));
    const place = h("div", { "aria-live": "polite" });
    let chosen: Server | null = null;
    const select = (server: Server) => {
        chosen = server;
        context.changed();
        forgetCharts(place);
        place.replaceChildren(
            chart({
                title: `Cardiogram of ${server.name}: what it was asked to write and to read`,
                hint: "Ctrl + wheel: zoom; drag: move.",
                height: 260,
                option: (theme) => cardiogram(theme, server, bin_s, end),
            }),
        );
        drawCharts(place);
    };
    const busiest = servers.reduce((a, b) => (total(b) > total(a) ? b : a));
    select(busiest);
    const element = h(
        "div",
        {},
        h("h2", {}, plural(servers.length, "server")),
        evenness(load, busiest),
        ...loadCharts(load, select),
        place,
        serverTable("Servers: choose one to see its cardiogram", servers, busiest, select),
    );
    return {
        element,
        enter: ({ server: name }) => {
            const found = servers.find((one) => one.name === name);
            if (found && found !== chosen) select(found);
        },
        state: () => (chosen && chosen !== busiest ? { server: chosen.name } : {}),
    };
}

/** Without times: what each server was asked for in all. */
function totals(load: Servers): HTMLElement {
    const { servers } = load;
    const busiest = servers.reduce((a, b) => (total(b) > total(a) ? b : a));
    return h(
        "div",
        {},
        h("h2", {}, plural(servers.length, "server")),
        h(
            "p",
            { class: "note" },
            "The source counted bytes of files, neither times nor places: each file's bytes are spread evenly over the servers that its extent reaches. When each server was asked is not known.",
        ),
        evenness(load, busiest),
        loadChart(servers),
        serverTable("Servers", servers),
    );
}

function total(server: Server): number {
    return server.bytes_read + server.bytes_written;
}

/** How evenly the servers were asked, and what is not known of it. */
function evenness(load: Servers, busiest: Server): HTMLElement {
    return h(
        "p",
        {},
        load.imbalance === null
            ? null
            : `The busiest, ${busiest.name}, was asked for ${number(load.imbalance)} times the mean. `,
        "Loads follow from the layout of the files; what other jobs asked for is not in them.",
        load.unknown_bytes ? ` ${size(load.unknown_bytes)} more went to files whose layout is not known.` : null,
    );
}

function loadChart(servers: readonly Server[]): HTMLElement {
    return chart({
        title: "Bytes that each server was asked for",
        height: 90 + 24 * servers.length,
        option: (theme) => serverLoad(theme, servers),
    });
}

function loadCharts(load: Servers, select: (server: Server) => void): HTMLElement[] {
    const { servers } = load;
    return [
        loadChart(servers),
        chart({
            title: "Load of each server over the run",
            note: "Empty: nothing was asked of it.",
            height: 100 + 22 * servers.length,
            renderer: servers.length > MANY ? "canvas" : "svg",
            option: (theme, width) => serverMap(theme, load, width),
            click: (event) => {
                const value = (event as { value?: [number, number, number] }).value;
                const server = value && servers[value[1]];
                if (server) select(server);
            },
        }),
    ];
}

function serverTable(
    caption: string,
    servers: readonly Server[],
    busiest?: Server,
    select?: (server: Server) => void,
): HTMLElement {
    return table({
        caption,
        rows: servers,
        columns: [
            { key: "name", title: "Server", value: (s) => s.name },
            { key: "files", title: "Files", value: (s) => s.files, show: (s) => count(s.files) },
            { key: "written", title: "Written", value: (s) => s.bytes_written, show: (s) => size(s.bytes_written) },
            { key: "read", title: "Read", value: (s) => s.bytes_read, show: (s) => size(s.bytes_read) },
            { key: "total", title: "Together", value: total, show: (s) => size(total(s)) },
        ],
        sorting: { key: "total", descending: true },
        text: (s) => s.name,
        filterLabel: "Filter servers",
        ...(select ? { select } : {}),
        selected: (s) => s === busiest,
        empty: "",
    });
}
