/** Charts in figures: drawn when they are seen, drawn anew when the theme or their width changes. */

import { BarChart, CustomChart, HeatmapChart, LineChart } from "echarts/charts";
import {
    AriaComponent,
    DataZoomComponent,
    GridComponent,
    LegendComponent,
    MarkLineComponent,
    TitleComponent,
    TooltipComponent,
    VisualMapComponent,
} from "echarts/components";
import { init, use, type ECharts, type EChartsCoreOption } from "echarts/core";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { h } from "./dom";
import { levelName, THEMES, type Scheme, type Theme } from "./theme";

use([
    BarChart, CustomChart, HeatmapChart, LineChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent,
    MarkLineComponent, TitleComponent, TooltipComponent, VisualMapComponent, CanvasRenderer, SVGRenderer,
]); // prettier-ignore

export interface ChartSpec {
    /** What is seen, in words; the reader of a screen hears it, too. */
    title: string;
    note?: string;
    /** How to use it; not printed. */
    hint?: string;
    /** Edges on whole pixels: for bars of hardly any height. */
    crisp?: boolean;
    height: number | ((width: number) => number);
    option: (theme: Theme, width: number) => EChartsCoreOption;
    /** canvas for thousands of marks; SVG prints sharper. */
    renderer?: "canvas" | "svg" | undefined;
    click?: (event: { seriesIndex?: number; dataIndex?: number; name?: string }) => void;
    /** A click anywhere in the chart, in its pixels. */
    clickAt?: (x: number, y: number, width: number) => void;
}

interface Drawn {
    figure: HTMLElement;
    draw: () => void;
    redraw: () => void;
}

/** As in style/page.css; named, because the charts measure their words with it. */
const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

const drawn = new Set<Drawn>();
let scheme: Scheme = "light";

/** A figure with a chart. draw(root) draws it once it is in the page. */
export function chart(spec: ChartSpec): HTMLElement {
    const place = h("div", { class: "chart-place", role: "img", "aria-label": spec.title });
    const figure = h(
        "figure",
        { class: spec.crisp ? "chart crisp" : "chart" },
        h(
            "figcaption",
            {},
            h("h3", {}, spec.title),
            spec.note ? h("p", {}, spec.note) : null,
            spec.hint ? h("p", { class: "hint" }, spec.hint) : null,
        ),
        place,
    );
    let instance: ECharts | null = null;
    let width = 0;
    const redraw = () => {
        if (!place.clientWidth) return;
        width = place.clientWidth;
        const height = typeof spec.height === "number" ? spec.height : spec.height(width);
        place.style.height = `${height}px`;
        if (!instance) {
            instance = init(place, null, { renderer: spec.renderer ?? "svg", width, height });
            if (spec.click) instance.on("click", spec.click as (event: unknown) => void);
            const { clickAt } = spec;
            if (clickAt) instance.getZr().on("click", ({ offsetX, offsetY }) => clickAt(offsetX, offsetY, width));
            new ResizeObserver(() => {
                if (place.clientWidth && place.clientWidth !== width) redraw();
            }).observe(place);
        }
        instance.resize({ width, height });
        instance.setOption({ ...common(THEMES[scheme]), ...spec.option(THEMES[scheme], width) }, true);
        instance.getZr().flush();
    };
    drawn.add({ figure, draw: () => instance ?? redraw(), redraw });
    return figure;
}

/** Draws the charts below `root` that are in sight and were not drawn yet. */
export function drawCharts(root: Element): void {
    for (const entry of drawn) if (root.contains(entry.figure)) entry.draw();
}

/** Draws all charts in sight anew, in the colours of `next`. */
export function redrawCharts(next: Scheme): void {
    scheme = next;
    for (const entry of [...drawn]) {
        if (entry.figure.isConnected) entry.redraw();
    }
}

/** Forgets the charts below `root`: it is about to be replaced. */
export function forgetCharts(root: Element): void {
    for (const entry of [...drawn]) if (root.contains(entry.figure)) drawn.delete(entry);
}

/** What all charts share. */
function common(theme: Theme): EChartsCoreOption {
    return {
        animation: false,
        backgroundColor: "transparent",
        textStyle: { color: theme.ink, fontFamily: FONT },
        tooltip: tooltip(theme),
    };
}

export function tooltip(theme: Theme): Record<string, unknown> {
    return {
        confine: true,
        backgroundColor: theme.panel,
        borderColor: theme.grid,
        textStyle: { color: theme.ink, fontSize: 12 },
        transitionDuration: 0,
    };
}

/** A value axis: name at its end, lines in the theme's colours. */
export function axis(theme: Theme, more: Record<string, unknown>): Record<string, unknown> {
    const { axisLabel, ...rest } = more;
    return {
        type: "value",
        nameTextStyle: { color: theme.muted, fontSize: 12 },
        axisLine: { lineStyle: { color: theme.grid } },
        axisTick: { show: false },
        splitLine: { lineStyle: { color: theme.grid } },
        nameLocation: "middle",
        nameGap: 28,
        ...rest,
        axisLabel: { color: theme.muted, hideOverlap: true, fontSize: 11, ...(axisLabel as object | undefined) },
    };
}

/** A row for each interface, the application's side on top. */
export function levelAxis(theme: Theme, levels: readonly string[]): Record<string, unknown> {
    return axis(theme, {
        type: "category",
        data: levels.map(levelName),
        inverse: true,
        axisLabel: { fontSize: 12 },
    });
}

export function legend(theme: Theme, more: Record<string, unknown> = {}): Record<string, unknown> {
    return {
        textStyle: { color: theme.ink, fontSize: 12 },
        itemWidth: 14,
        itemHeight: 10,
        top: 0,
        left: 0,
        icon: "rect",
        ...more,
    };
}

/** Text that may stand in a chart's tooltip, which takes HTML. */
export function escapeHtml(text: string): string {
    return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign);
}
