/** Numbers as people read them; the same words as python/halcyon/quantities.py. Prefixes are decimal. */

export const ABSENT = "–";

const TIMES = [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
    ["ns", 1e-9],
] as const;
const BYTES = [
    ["PB", 1e15],
    ["TB", 1e12],
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
] as const;

type Units = readonly (readonly [string, number])[];

function unitOf(value: number, units: Units): readonly [string, number] {
    const size = Math.abs(value);
    // Not 1000 ms: what rounds up to the next unit is told in it.
    return units.find(([, unit]) => size >= unit * 0.9995) ?? units[units.length - 1]!;
}

/** Three significant digits; thousands in full. */
export function number(value: number): string {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 999.5) return count(value);
    if (size < 0.001)
        return value
            .toExponential(1)
            .replace("e-", "·10⁻")
            .replace(/⁻(\d+)$/, (_, d: string) => "⁻" + raised(d));
    return value.toPrecision(3);
}

function raised(digits: string): string {
    return [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
}

/** 1,234,567 */
export function count(value: number | null): string {
    return value === null ? ABSENT : Math.round(value).toLocaleString("en-US");
}

/** 1.20 s, 350 ms; above two minutes 2 min 05 s. */
export function seconds(value: number | null): string {
    if (value === null) return ABSENT;
    if (Math.abs(value) >= 120) return longTime(value);
    const [name, unit] = value === 0 ? TIMES[0] : unitOf(value, TIMES);
    return `${number(value / unit)} ${name}`;
}

function longTime(value: number): string {
    const whole = Math.round(Math.abs(value));
    const sign = value < 0 ? "−" : "";
    const two = (n: number) => String(n).padStart(2, "0");
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    return hours ? `${sign}${hours} h ${two(minutes)} min` : `${sign}${minutes} min ${two(whole % 60)} s`;
}

/** 15.8 GB */
export function size(value: number | null): string {
    if (value === null) return ABSENT;
    const [name, unit] = value === 0 ? BYTES[5] : unitOf(value, BYTES);
    return name === "B" ? `${Math.round(value)} B` : `${number(value / unit)} ${name}`;
}

/** Of the blocks and stripes of file systems, not of data: 512 KiB, as these are set; 15.8 GB where it is no multiple. */
export function blockSize(value: number | null): string {
    if (value === null) return ABSENT;
    for (const [name, unit] of [
        ["GiB", 2 ** 30],
        ["MiB", 2 ** 20],
        ["KiB", 2 ** 10],
    ] as const) {
        if (value >= unit && value % unit === 0) return `${value / unit} ${name}`;
    }
    return size(value);
}

/** 695 MB/s */
export function rate(value: number | null): string {
    return value === null ? ABSENT : `${size(value)}/s`;
}

/** 4.2 % of a share between 0 and 1. */
export function percent(share: number | null): string {
    if (share === null || Number.isNaN(share)) return ABSENT;
    const value = share * 100;
    if (value === 0) return "0 %";
    return value >= 9.95 ? `${Math.round(value)} %` : `${value.toPrecision(2)} %`;
}

/** 98.7 % of a share; what is not all is never told as 100 %. */
export function share(value: number | null): string {
    if (value === null) return ABSENT;
    if (value === 1) return "100 %";
    if (value >= 0.9995 && value < 1) return `${Math.min(value * 100, 99.99).toFixed(2)} %`;
    return `${(value * 100).toFixed(1)} %`;
}

/** 1 block, 2 blocks */
export function plural(n: number, one: string, many = `${one}s`): string {
    return `${count(n)} ${n === 1 ? one : many}`;
}

/** 0–3, 7, 12–15 of sorted or unsorted whole numbers; what is beyond `most` ranges is counted. */
export function ranges(values: readonly number[], most = 4): string {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    const found: [number, number][] = [];
    for (const value of sorted) {
        const last = found[found.length - 1];
        if (last && value === last[1] + 1) last[1] = value;
        else found.push([value, value]);
    }
    const text = found.slice(0, most).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    const rest = found.slice(most).reduce((sum, [from, to]) => sum + to - from + 1, 0);
    return rest ? `${text.join(", ")} and ${count(rest)} more` : text.join(", ");
}

/** A moment of the run for an axis whose window is `span` seconds long: as many digits as tell neighbours apart. */
export function moment(value: number, span: number): string {
    const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(span / 20))));
    const fixed = value.toFixed(digits);
    const [whole, fraction] = fixed.split(".");
    if (!fraction) return `${count(Number(whole))} s`;
    return `${whole}.${fraction.replace(/(\d{3})(?=\d)/g, "$1\u202f")} s`;
}

/** A unit for an axis of seconds up to `largest`, and its labels without the unit. */
export function timeScale(largest: number): { name: string; format: (value: number) => string } {
    const [name, unit] = largest > 0 ? unitOf(largest, TIMES) : TIMES[0];
    return { name, format: (value) => trimmed(value / unit) };
}

/** The same for bytes, or bytes per second. */
export function byteScale(largest: number): { name: string; format: (value: number) => string } {
    const [name, unit] = largest > 0 ? unitOf(largest, BYTES) : BYTES[5];
    return { name, format: (value) => trimmed(value / unit) };
}

function trimmed(value: number): string {
    return Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(3)));
}
