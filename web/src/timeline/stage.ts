/**
 * The timeline's picture: axes, zoom and pan by ECharts, the calls painted into a canvas beneath them.
 *
 * One frame costs one picture (paint.ts) and one update of the axes, whatever the number of calls.
 */

import { LineChart } from "echarts/charts";
import { DataZoomComponent, GridComponent } from "echarts/components";
import { init, use, type ECharts } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { axis } from "../chart";
import { h } from "../dom";
import type { Theme } from "../theme";
import { moment } from "../units";
import { bandsOf, separates, type Band } from "./bands";
import { paint, plainPalette, type Palette } from "./paint";
import type { Tree } from "./tree";
import type { Span } from "./window";

use([LineChart, DataZoomComponent, GridComponent, CanvasRenderer]);

const MARGIN = { left: 96, right: 40, top: 6, bottom: 74 };
const LEAST_S = 1e-6; // of time in sight

export interface Scene {
    tree: Tree;
    /** The calls of the chosen files; the others are faint. */
    chosen: Tree | null;
    shownLevels: number[];
    palette: Palette;
    theme: Theme;
}

export interface StageSpec {
    duration: number;
    rows: number;
    levels: number;
    label: (row: number) => string;
    /** How busy the run was, for the picture in the slider: [second, value]. */
    activity: [number, number][];
    moved: (time: Span, rows: Span) => void;
}

export class Stage {
    readonly element: HTMLElement;
    readonly canvas = h("canvas", { "aria-hidden": "true" });
    /** Time in seconds, rows as indices of processes. */
    time: Span;
    rows: Span;
    private readonly overlay = h("div", { class: "stage-axes" });
    private axes: ECharts | null = null;
    private scene: Scene | null = null;
    private asked = 0;

    constructor(private readonly spec: StageSpec) {
        this.time = { from: 0, to: spec.duration };
        this.rows = { from: 0, to: spec.rows };
        this.element = h("div", { class: "stage" }, this.canvas, this.overlay);
        new ResizeObserver(() => this.resize()).observe(this.element);
    }

    get least(): number {
        return LEAST_S;
    }

    /** Shows another scene, in the same place. */
    show(scene: Scene): void {
        const themed = scene.theme !== this.scene?.theme;
        this.scene = scene;
        if (this.axes && themed) this.axes.setOption(this.option(scene.theme), true);
        this.ask();
    }

    /** Goes to a part of the run. */
    look(time: Span, rows: Span): void {
        this.time = time;
        this.rows = rows;
        this.axes?.dispatchAction({
            type: "dataZoom",
            batch: [
                { dataZoomIndex: 0, startValue: time.from, endValue: time.to },
                { dataZoomIndex: 1, startValue: rows.from, endValue: rows.to },
            ],
        });
        this.ask();
    }

    /** Paints now instead of with the next frame: for printing. */
    paintNow(): void {
        this.resize();
        this.axes?.getZr().flush();
    }

    /** Whether each level has a strip of its own. */
    get apart(): boolean {
        return separates(this.canvas.height, this.rows, this.scene?.shownLevels.length ?? 0);
    }

    /** What lies at a point of the page: its time, its band; null outside. */
    at(clientX: number, clientY: number): { second: number; band: Band; reach: number } | null {
        const box = this.canvas.getBoundingClientRect();
        const x = clientX - box.left;
        const y = clientY - box.top;
        if (x < 0 || y < 0 || x >= box.width || y >= box.height || !this.scene) return null;
        const scale = this.canvas.height / box.height;
        const band = this.bands().find(({ top, bottom }) => y * scale >= top && y * scale < bottom);
        const perPixel = (this.time.to - this.time.from) / box.width;
        return band ? { second: this.time.from + x * perPixel, band, reach: 2 * perPixel } : null;
    }

    private bands(): Band[] {
        return bandsOf(this.canvas.height, this.rows, this.spec.rows, this.spec.levels, this.scene?.shownLevels ?? []);
    }

    private resize(): void {
        const width = this.element.clientWidth;
        const height = this.element.clientHeight;
        if (!width || !this.scene) return;
        const inner = {
            width: Math.max(1, width - MARGIN.left - MARGIN.right),
            height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
        };
        const scale = Math.min(2, window.devicePixelRatio || 1);
        this.canvas.width = Math.round(inner.width * scale);
        this.canvas.height = Math.round(inner.height * scale);
        Object.assign(this.canvas.style, {
            left: `${MARGIN.left}px`,
            top: `${MARGIN.top}px`,
            width: `${inner.width}px`,
            height: `${inner.height}px`,
        });
        if (!this.axes) {
            this.axes = init(this.overlay, null, { renderer: "canvas", width, height });
            this.axes.setOption(this.option(this.scene.theme));
            this.axes.on("datazoom", () => this.zoomed());
            this.look(this.time, this.rows);
        } else this.axes.resize({ width, height });
        this.draw();
    }

    private zoomed(): void {
        const [time, rows] = (this.axes!.getOption() as { dataZoom: { startValue: number; endValue: number }[] })
            .dataZoom;
        this.time = { from: time!.startValue, to: time!.endValue };
        this.rows = { from: rows!.startValue, to: rows!.endValue };
        this.ask();
    }

    /** Many events, one picture per frame. */
    private ask(): void {
        if (this.asked) return;
        this.asked = requestAnimationFrame(() => {
            this.asked = 0;
            this.draw();
        });
    }

    private draw(): void {
        const { scene, canvas } = this;
        if (!scene || !this.axes) return;
        const { width, height } = canvas;
        const window = { from: this.time.from * 1e9, to: this.time.to * 1e9 };
        const bands = this.bands();
        const { levels } = this.spec;
        const faint = { ...plainPalette(scene.theme.grid, scene.theme.panel) };
        const whole = paint(scene.tree, window, bands, width, height, levels, scene.chosen ? faint : scene.palette);
        let touched = whole.touched;
        if (scene.chosen) {
            const chosen = paint(scene.chosen, window, bands, width, height, levels, scene.palette);
            const background = (0xff000000 | scene.palette.background) >>> 0;
            for (let i = 0; i < whole.pixels.length; i++)
                if (chosen.pixels[i] !== background) whole.pixels[i] = chosen.pixels[i]!;
            touched += chosen.touched;
        }
        const bytes = new Uint8ClampedArray(whole.pixels.buffer as ArrayBuffer);
        canvas.getContext("2d")!.putImageData(new ImageData(bytes, width, height), 0, 0);
        canvas.dataset.touched = String(touched);
        canvas.dataset.frames = String(Number(canvas.dataset.frames ?? 0) + 1);
        this.spec.moved(this.time, this.rows);
    }

    private option(theme: Theme): Record<string, unknown> {
        const { duration, rows, label, activity } = this.spec;
        return {
            animation: false,
            grid: MARGIN,
            xAxis: axis(theme, {
                min: 0,
                max: duration,
                splitLine: { show: false },
                axisLabel: { formatter: (value: number) => moment(value, this.time.to - this.time.from) },
            }),
            yAxis: [rowAxis(theme, rows, label), { type: "value", show: false }],
            dataZoom: zooms(theme, duration, rows),
            series: [
                // Only seen in the slider. The empty one keeps the axis of the rows in use.
                {
                    type: "line",
                    yAxisIndex: 1,
                    data: activity,
                    showSymbol: false,
                    silent: true,
                    lineStyle: { opacity: 0 },
                    sampling: "max",
                },
                { type: "line", yAxisIndex: 0, data: [], silent: true },
            ],
        };
    }
}

function rowAxis(theme: Theme, rows: number, label: (row: number) => string): Record<string, unknown> {
    return axis(theme, {
        min: 0,
        max: rows,
        inverse: true,
        minInterval: 1,
        splitLine: { show: false },
        axisLabel: {
            formatter: (value: number) => (value < rows && Number.isInteger(value) ? label(value) : ""),
            verticalAlign: "top",
        },
    });
}

/** Wheel and drag within the picture, and a slider along each axis: that of the rows only where there are several. */
function zooms(theme: Theme, duration: number, rows: number): Record<string, unknown>[] {
    const inside = { type: "inside", throttle: 0, minValueSpan: LEAST_S, filterMode: "none" };
    const ofTime = {
        ...slider(theme),
        xAxisIndex: 0,
        bottom: 8,
        height: 32,
        minValueSpan: LEAST_S,
        filterMode: "none",
        labelFormatter: (value: number) => moment(value, duration / 100),
    };
    const ofRows = {
        ...slider(theme),
        yAxisIndex: 0,
        right: 4,
        width: 18,
        minValueSpan: 1,
        filterMode: "none",
        showDetail: false,
        showDataShadow: false,
    };
    return [
        { ...inside, xAxisIndex: 0 },
        { ...inside, yAxisIndex: 0, minValueSpan: 1, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: "shift" },
        ofTime,
        ...(rows > 1 ? [ofRows] : []),
    ];
}

function slider(theme: Theme): Record<string, unknown> {
    return {
        type: "slider",
        brushSelect: false,
        borderColor: theme.grid,
        fillerColor: `${theme.accent}22`,
        handleStyle: { color: theme.panel, borderColor: theme.accent },
        moveHandleStyle: { color: theme.muted, opacity: 0.4 },
        dataBackground: { lineStyle: { color: theme.muted }, areaStyle: { color: theme.muted } },
        selectedDataBackground: { lineStyle: { color: theme.accent }, areaStyle: { color: theme.accent } },
        textStyle: { color: theme.muted, fontSize: 11 },
        throttle: 0,
    };
}
