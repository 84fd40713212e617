/** The run's files: how much, how, by whom. */

import { chart, drawCharts, forgetCharts } from "../chart";
import type { File } from "../data";
import { h, nothing, pathCell } from "../dom";
import { sizeHistogram } from "../options/bars";
import { formatRoute } from "../route";
import { table } from "../table";
import { levelName } from "../theme";
import { ABSENT, blockSize, count, percent, plural, rate, seconds, size } from "../units";
import { capital, whoOf, type Who } from "../who";
import { hasCalls, type Context, type View } from "./context";
import { hasServers } from "./servers";

/** In a word how a file's bytes were walked through: what most of its reads and writes did. */
export function pattern({ pattern: name, pattern_share: share }: File): string {
    return name === null ? ABSENT : `${percent(share)} ${name}`;
}

export function filesView(context: Context): View {
    const { files, sizes, timeline } = context.document;
    const who = whoOf(context.document);
    if (!files.length) return { element: h("div", {}, h("h2", {}, "Files"), nothing("No files in this run.")) };
    const detail = h("div", { "aria-live": "polite" });
    let chosen: number | null = null;
    let filter = "";
    const list = h("div");
    const select = (file: File) => {
        chosen = file.file;
        detail.replaceChildren(fileDetail(context, file));
        context.changed();
    };
    const filtered = (words: string) => {
        filter = words;
        context.changed();
    };
    const draw = () =>
        list.replaceChildren(fileTable(files, who, select, (file) => file.file === chosen, filter, filtered));
    draw();
    const histogram = h("div");
    const levels = [...new Set(sizes.filter(({ calls }) => calls > 0).map(({ level }) => level))];
    const drawSizes = (level: string) => {
        forgetCharts(histogram);
        histogram.replaceChildren(
            chart({
                title: `Sizes of reads and writes at the level ${levelName(level)}`,
                height: 260,
                option: (theme) => sizeHistogram(theme, sizes, level),
            }),
        );
        drawCharts(histogram);
    };
    const first = levels.includes("posix") ? "posix" : levels[0];
    if (first) drawSizes(first);
    return {
        element: h(
            "div",
            {},
            h("h2", {}, plural(files.length, "file")),
            list,
            detail,
            levels.length > 1
                ? h(
                      "label",
                      { class: "field" },
                      "Level ",
                      h(
                          "select",
                          { onchange: (event) => drawSizes((event.target as HTMLSelectElement).value) },
                          ...levels.map((level) =>
                              h("option", { value: level, selected: level === first }, levelName(level)),
                          ),
                      ),
                  )
                : null,
            first ? histogram : nothing("No reads or writes with sizes in this run."),
            hasServers(context)
                ? null
                : nothing("On which servers these files lie is not known, so neither is the servers' load."),
            timeline ? null : nothing("The calls themselves are not in this page."),
        ),
        enter: ({ file, filter: words }) => {
            const found = files.find((one) => one.file === file);
            const other = found !== undefined && chosen !== found.file;
            if (!other && (words === undefined || words === filter)) return;
            filter = words ?? filter;
            if (other) select(found);
            draw();
            if (other) detail.scrollIntoView({ block: "nearest" });
        },
        state: () => ({ ...(chosen === null ? {} : { file: chosen }), ...(filter ? { filter } : {}) }),
    };
}

function fileTable(
    files: readonly File[],
    who: Who,
    select: (file: File) => void,
    selected: (file: File) => boolean,
    filter: string,
    filtered: (words: string) => void,
): HTMLElement {
    return table({
        caption: "Files",
        rows: files,
        columns: [
            {
                key: "path",
                title: "Path",
                value: (f) => f.path,
                show: (f) => pathCell(f.path),
            },
            {
                key: "written",
                title: "Written",
                value: (f) => f.bytes_written,
                show: (f) => size(f.bytes_written),
            },
            {
                key: "read",
                title: "Read",
                value: (f) => f.bytes_read,
                show: (f) => size(f.bytes_read),
            },
            {
                key: "calls",
                title: "Transfers",
                hint: "its reads and writes",
                value: (f) => f.reads + f.writes,
                show: (f) => count(f.reads + f.writes),
            },
            { key: "opens", title: "Opens", value: (f) => f.opens, show: (f) => count(f.opens) },
            {
                key: "seconds",
                title: "Time",
                hint: "in its calls",
                value: (f) => f.seconds,
                show: (f) => seconds(f.seconds),
            },
            { key: "pattern", title: "Pattern", value: pattern, oneLine: true },
            {
                key: "small",
                title: "Small",
                hint: "share of its reads and writes that are small",
                value: (f) => smallShare(f),
                show: (f) => percent(smallShare(f)),
            },
            { key: "ranks", title: capital(who.many), value: (f) => f.rank_count, show: (f) => count(f.rank_count) },
        ],
        sorting: { key: "seconds", descending: true },
        text: (f) => `${f.path} ${f.filesystem ?? ""} ${f.servers.join(" ")}`,
        filterLabel: "Filter by path, file system, server",
        filter,
        filtered,
        select,
        selected,
        empty: "No files in this run.",
    });
}

function smallShare({ small, reads, writes }: File): number | null {
    return small !== null && reads + writes ? small / (reads + writes) : null;
}

function fileDetail(context: Context, file: File): HTMLElement {
    const who = whoOf(context.document);
    const jumps = [file.strided, file.forward, file.backward, file.restarts, file.random];
    // Where a source does not tell the jumps, those that are consecutive are a share of all transfers.
    const all = jumps.includes(null)
        ? file.reads + file.writes
        : jumps.reduce<number>((sum, n) => sum + (n ?? 0), file.consecutive ?? 0);
    const share = (n: number | null) => (n === null ? null : all ? `${percent(n / all)} (${count(n)})` : ABSENT);
    const lines: [string, string | null][] = [
        ["written", `${size(file.bytes_written)} in ${plural(file.writes, "call")}`],
        ["read", `${size(file.bytes_read)} in ${plural(file.reads, "call")}`],
        ["mean write", file.writes ? size(file.bytes_written / file.writes) : null],
        ["mean read", file.reads ? size(file.bytes_read / file.reads) : null],
        ["consecutive", share(file.consecutive)],
        ["strided", share(file.strided)],
        ["other jumps forward", share(file.forward)],
        ["other jumps backward", share(file.backward)],
        ["back to its start", share(file.restarts)],
        ["random", share(file.random)],
        ["unaligned", file.unaligned === null ? null : count(file.unaligned)],
        ["crossing stripes", file.crossing === null ? null : count(file.crossing)],
        ["opens, stats, syncs", `${count(file.opens)}, ${count(file.stats)}, ${count(file.syncs)}`],
        [who.many, file.ranks || ABSENT],
        [
            "shared",
            file.rank_count > 1 ? `by ${plural(file.rank_count, who.one, who.many)}` : `no: one ${who.one} alone`,
        ],
        ["file system", file.filesystem],
        ["block", file.block_bytes === null ? null : blockSize(file.block_bytes)],
        ["stripe", file.stripe_bytes === null ? null : blockSize(file.stripe_bytes)],
        ["servers", file.servers.join(", ") || null],
        ...context.document.bandwidths
            .filter((b) => b.file === file.file)
            .map((b): [string, string] => [
                `${b.kind}, effective POSIX`,
                b.posix_cut ? `${ABSENT}: the source cut its POSIX record short` : rate(b.effective_posix),
            ]),
    ];
    return h(
        "section",
        { class: "detail-card" },
        h("h3", {}, file.path),
        h(
            "dl",
            { class: "facts" },
            ...lines
                .filter(([, value]) => value !== null)
                .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
        ),
        hasCalls(context)
            ? h(
                  "p",
                  {},
                  h("a", { href: formatRoute({ tab: "timeline", file: file.file }) }, "Its calls on the timeline"),
              )
            : null,
    );
}
