/** The part of the run in sight: zoom and pan, as pure steps that stay within the whole. */

export interface Span {
    from: number;
    to: number;
}

/** Keeps `span` within [0, whole] and at least `least` wide. */
export function within(span: Span, whole: number, least: number): Span {
    const width = Math.min(whole, Math.max(least, span.to - span.from));
    const middle = (span.from + span.to) / 2;
    const from = Math.min(Math.max(0, middle - width / 2), whole - width);
    return { from, to: from + width };
}

/** `factor` < 1 zooms in, around `at` (a share of the span's width). */
export function zoomed(span: Span, factor: number, whole: number, least: number, at = 0.5): Span {
    const width = Math.min(whole, Math.max(least, (span.to - span.from) * factor));
    const fixed = span.from + (span.to - span.from) * at;
    return within({ from: fixed - width * at, to: fixed + width * (1 - at) }, whole, least);
}

/** Moves by a share of the span's width. */
export function moved(span: Span, share: number, whole: number, least: number): Span {
    const by = (span.to - span.from) * share;
    return within({ from: span.from + by, to: span.to + by }, whole, least);
}

/** The keys of the timeline: the spans that a key leads to, or null when it is none of them. */
export function keyed(
    key: string,
    time: Span,
    rows: Span,
    limits: { duration: number; rows: number; least: number },
): { time: Span; rows: Span } | null {
    const { duration, rows: most, least } = limits;
    const timeTo = (next: Span) => ({ time: next, rows });
    const rowsTo = (next: Span) => ({ time, rows: next });
    switch (key) {
        case "ArrowLeft":
            return timeTo(moved(time, -0.2, duration, least));
        case "ArrowRight":
            return timeTo(moved(time, 0.2, duration, least));
        case "+":
        case "=":
            return timeTo(zoomed(time, 0.5, duration, least));
        case "-":
            return timeTo(zoomed(time, 2, duration, least));
        case "ArrowUp":
            return rowsTo(moved(rows, -0.2, most, 1));
        case "ArrowDown":
            return rowsTo(moved(rows, 0.2, most, 1));
        case "]":
            return rowsTo(zoomed(rows, 0.5, most, 1));
        case "[":
            return rowsTo(zoomed(rows, 2, most, 1));
        case "Home":
        case "0":
            return { time: { from: 0, to: duration }, rows: { from: 0, to: most } };
        default:
            return null;
    }
}
