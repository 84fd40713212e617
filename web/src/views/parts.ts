/** What one call was made of: the calls below it as nested bars, and their sums. After figures 4.9 and 4.10 of Wright 2014. */

import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from "echarts";
import { axis, chart, escapeHtml, levelAxis, tooltip } from "../chart";
import { h, nothing } from "../dom";
import { table } from "../table";
import { classOf, levelName, type Theme } from "../theme";
import { callsWithin, functionOf, type Calls } from "../timeline/calls";
import { describeCall, movedBytes } from "../timeline/describe";
import type { Context } from "./context";
import { ABSENT, count, percent, plural, seconds, size, timeScale } from "../units";

const MOST_BARS = 4000;

interface Sum {
    name: string;
    level: string;
    kind: string;
    calls: number;
    bytes: number;
    seconds: number;
}

/** Sums of `parts` by function, the longest first. */
export function sumsOf(calls: Calls, parts: readonly number[]): Sum[] {
    const sums = new Map<number, Sum>();
    for (const part of parts) {
        const { call, level, kind } = functionOf(calls, part);
        const sum = sums.get(calls.function[part]!) ?? { name: call, level, kind, calls: 0, bytes: 0, seconds: 0 };
        sum.calls++;
        sum.bytes += movedBytes(calls, part) ?? 0;
        sum.seconds += calls.duration[part]! / 1e9;
        sums.set(calls.function[part]!, sum);
    }
    return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
}

/** The nested bars and the sums of one call. */
export function partsOf(context: Context, call: number): HTMLElement {
    const calls = context.calls!;
    const { files } = context.document;
    const parts = callsWithin(calls, call, MOST_BARS + 1);
    const { title, lines } = describeCall(calls, call, files);
    const whole = calls.duration[call]! / 1e9;
    const facts = h(
        "dl",
        { class: "facts" },
        ...lines.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
    if (!parts.length)
        return h(
            "section",
            { class: "parts" },
            h("h3", {}, title),
            facts,
            nothing("No call below this one was recorded."),
        );
    const shown = parts.slice(0, MOST_BARS);
    const sums = sumsOf(calls, parts);
    return h(
        "section",
        { class: "parts" },
        chart({
            title: `What this ${title} was made of`,
            note: `${parts.length > MOST_BARS ? `The first ${count(MOST_BARS)} calls below it` : plural(parts.length, "call") + " below it"}, from its begin to its end.`,
            height: 90 + 46 * new Set([call, ...shown].map((c) => functionOf(calls, c).level)).size,
            option: (theme) => nestedBars(calls, call, shown, context, theme),
        }),
        facts,
        table({
            caption: "Calls below it, by function",
            rows: sums,
            columns: [
                { key: "name", title: "Function", value: (sum) => sum.name },
                { key: "level", title: "Level", value: (sum) => levelName(sum.level) },
                { key: "kind", title: "Kind", value: (sum) => sum.kind },
                { key: "calls", title: "Calls", value: (sum) => sum.calls, show: (sum) => count(sum.calls) },
                {
                    key: "bytes",
                    title: "Bytes",
                    value: (sum) => sum.bytes,
                    show: (sum) => (sum.bytes ? size(sum.bytes) : ABSENT),
                },
                { key: "seconds", title: "Time", value: (sum) => sum.seconds, show: (sum) => seconds(sum.seconds) },
                {
                    key: "share",
                    title: "Share of the call",
                    value: (sum) => sum.seconds / whole,
                    show: (sum) => percent(sum.seconds / whole),
                },
            ],
            sorting: { key: "seconds", descending: true },
            empty: "",
        }),
    );
}

function nestedBars(calls: Calls, call: number, parts: readonly number[], context: Context, theme: Theme) {
    const start = calls.start[call]!;
    const whole = calls.duration[call]! / 1e9;
    const all = [call, ...parts];
    const levels = calls.timeline.levels.filter((level) => all.some((one) => functionOf(calls, one).level === level));
    const scale = timeScale(whole);
    const data = all.map((one) => {
        const from = (calls.start[one]! - start) / 1e9;
        return [from, from + calls.duration[one]! / 1e9, levels.indexOf(functionOf(calls, one).level), one];
    });
    const bar = (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
        const level = Number(api.value(2));
        const [x0, y] = api.coord([api.value(0), level]) as [number, number];
        const [x1] = api.coord([api.value(1), level]) as [number, number];
        const lane = (api.size!([0, 1]) as [number, number])[1];
        const one = functionOf(calls, Number(api.value(3)));
        const width = Math.max(1, x1 - x0);
        return {
            type: "rect" as const,
            shape: { x: x0, y: y - lane * 0.4, width, height: lane * 0.8 },
            style: { fill: theme.classes[classOf(one.kind)], stroke: theme.page, lineWidth: width > 4 ? 1 : 0 },
            textContent:
                width > 7 * one.call.length + 8 ? { style: { text: one.call, fill: "#000", fontSize: 11 } } : undefined,
            textConfig: { position: "inside" as const },
        };
    };
    return {
        grid: { left: 70, right: 16, top: 8, bottom: 46 },
        xAxis: axis(theme, {
            min: 0,
            max: whole,
            name: `time since it began (${scale.name})`,
            axisLabel: { formatter: scale.format },
        }),
        yAxis: levelAxis(theme, levels),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ value }: { value: number[] }) => {
                const { title, lines } = describeCall(calls, value[3]!, context.document.files);
                return [
                    `<b>${escapeHtml(title)}</b>`,
                    ...lines.map(([name, text]) => `${name}: ${escapeHtml(text)}`),
                ].join("<br>");
            },
        },
        dataZoom: [{ type: "inside", filterMode: "weakFilter" }],
        series: [{ type: "custom", renderItem: bar, encode: { x: [0, 1], y: 2 }, data, clip: true }],
    };
}
