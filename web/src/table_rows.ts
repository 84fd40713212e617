/** Which rows of a table are shown in which order: pure, the table itself is in table.ts. */

export type Value = number | string | null;

export interface Sorting {
    key: string;
    descending: boolean;
}

/** The rows by `value`; what is not known comes last either way, equal rows keep their order. */
export function sortRows<Row>(rows: readonly Row[], value: (row: Row) => Value, descending: boolean): Row[] {
    const sign = descending ? -1 : 1;
    return rows
        .map((row, index) => ({ row, index, value: value(row) }))
        .sort((a, b) => {
            if (a.value === null || b.value === null)
                return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
            const order =
                typeof a.value === "number" && typeof b.value === "number"
                    ? a.value - b.value
                    : String(a.value).localeCompare(String(b.value), "en", { numeric: true });
            return sign * order || a.index - b.index;
        })
        .map(({ row }) => row);
}

/** The rows whose text holds each word of `filter`, in any case. */
export function filterRows<Row>(rows: readonly Row[], text: (row: Row) => string, filter: string): Row[] {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [...rows];
    return rows.filter((row) => {
        const own = text(row).toLowerCase();
        return words.every((word) => own.includes(word));
    });
}
