/** Tables that sort by a click on their head, filter by words, and are walked through with the arrow keys. */

import { h, nothing, type Child } from "./dom";
import { sideways } from "./sideways";
import { filterRows, sortRows, type Sorting, type Value } from "./table_rows";
import { count } from "./units";

export interface TableColumn<Row> {
    key: string;
    title: string;
    /** Explains the title. */
    hint?: string;
    /** Of a few words, which stay together; numbers do anyway. */
    oneLine?: boolean;
    value: (row: Row) => Value;
    show?: (row: Row) => Child;
}

export interface TableSpec<Row> {
    caption: string;
    rows: readonly Row[];
    columns: TableColumn<Row>[];
    sorting: Sorting;
    /** The text that the filter looks into; without it there is no filter. */
    text?: (row: Row) => string;
    filterLabel?: string;
    /** Words that it is filtered by to begin with, and who is told of others. */
    filter?: string;
    filtered?: (words: string) => void;
    select?: (row: Row) => void;
    selected?: (row: Row) => boolean;
    empty: string;
}

const SHOWN_AT_ONCE = 100;

export function table<Row>(spec: TableSpec<Row>): HTMLElement {
    if (!spec.rows.length) return nothing(spec.empty);
    let sorting = spec.sorting;
    let filter = spec.filter ?? "";
    let shown = SHOWN_AT_ONCE;
    const numeric = numericColumns(spec);
    const status = h("span", { class: "status", role: "status" });
    const overflow = h("span", { class: "hint overflow" });
    const body = h("tbody");
    const more = h("button", { type: "button", class: "more", onclick: () => ((shown += 10 * SHOWN_AT_ONCE), fill()) });
    const heads = spec.columns.map((column) =>
        headOf(column, numeric, () => {
            sorting = nextSorting(sorting, column.key, numeric);
            fill();
        }),
    );

    const fill = () => {
        const rows = rowsInOrder(spec, filter, sorting);
        body.replaceChildren(...rows.slice(0, shown).map((row) => lineOf(spec, numeric, body, row)));
        heads.forEach((head, index) => head.setAttribute("aria-sort", ariaSort(spec.columns[index]!.key, sorting)));
        const all = count(spec.rows.length);
        status.textContent = rows.length < spec.rows.length ? `${count(rows.length)} of ${all}` : all;
        more.hidden = rows.length <= shown;
        more.textContent = `Show more (${count(rows.length - shown)} are not shown)`;
        const focusable = body.querySelector<HTMLElement>('tr[aria-selected="true"], tr');
        if (spec.select && focusable) focusable.tabIndex = 0;
    };

    fill();
    const field = spec.text
        ? filterField(spec.filterLabel ?? "Filter", filter, (words) => {
              filter = words;
              spec.filtered?.(words);
              shown = SHOWN_AT_ONCE;
              fill();
          })
        : null;
    return h(
        "div",
        { class: "table" },
        h("div", { class: "table-head" }, h("h3", {}, spec.caption, " ", status, overflow), field),
        sideways(
            spec.caption,
            h("table", { "aria-label": spec.caption }, h("thead", {}, h("tr", {}, ...heads)), body),
            overflow,
        ),
        more,
    );
}

/** Keys of the columns that hold numbers. */
function numericColumns<Row>({ columns, rows }: TableSpec<Row>): ReadonlySet<string> {
    return new Set(columns.filter((c) => rows.some((row) => typeof c.value(row) === "number")).map((c) => c.key));
}

/** The rows that the filter leaves, sorted. */
function rowsInOrder<Row>({ columns, rows, text }: TableSpec<Row>, filter: string, sorting: Sorting): Row[] {
    const column = columns.find(({ key }) => key === sorting.key) ?? columns[0]!;
    return sortRows(text ? filterRows(rows, text, filter) : rows, column.value, sorting.descending);
}

/** After a click on the head of `key`: what a reader looks for in numbers are the large ones. */
function nextSorting(sorting: Sorting, key: string, numeric: ReadonlySet<string>): Sorting {
    return { key, descending: sorting.key === key ? !sorting.descending : numeric.has(key) };
}

function ariaSort(key: string, sorting: Sorting): string {
    if (key !== sorting.key) return "none";
    return sorting.descending ? "descending" : "ascending";
}

function headOf<Row>(column: TableColumn<Row>, numeric: ReadonlySet<string>, onclick: () => void): HTMLElement {
    const button = h("button", { type: "button", title: column.hint ?? false, onclick }, column.title);
    return h("th", { scope: "col", class: numeric.has(column.key) ? "number" : false }, button);
}

/** A row of the table; of a table to choose from, one that is chosen by a click or a key. */
function lineOf<Row>(spec: TableSpec<Row>, numeric: ReadonlySet<string>, body: HTMLElement, row: Row): HTMLElement {
    const cells = spec.columns.map((column) => {
        const content = column.show ? column.show(row) : String(column.value(row) ?? "–");
        return h("td", { class: numeric.has(column.key) ? "number" : column.oneLine ? "one-line" : false }, content);
    });
    if (!spec.select) return h("tr", {}, ...cells);
    const choose = (event: Event) => {
        const element = event.currentTarget as HTMLElement;
        for (const other of body.children) other.setAttribute("aria-selected", String(other === element));
        spec.select?.(row);
    };
    return h(
        "tr",
        {
            class: "choice",
            tabindex: -1,
            "aria-selected": String(spec.selected?.(row) ?? false),
            onclick: choose,
            onkeydown: (event) => walk(event as KeyboardEvent, choose),
        },
        ...cells,
    );
}

function filterField(label: string, words: string, changed: (words: string) => void): HTMLElement {
    return h("input", {
        type: "search",
        value: words,
        "aria-label": label,
        placeholder: label,
        oninput: (event) => changed((event.target as HTMLInputElement).value),
    });
}

/** Arrow keys go from row to row, Enter and Space choose one. */
function walk(event: KeyboardEvent, choose: (event: Event) => void): void {
    const row = event.currentTarget as HTMLElement;
    if (event.target !== row) return;
    const to =
        event.key === "ArrowDown"
            ? row.nextElementSibling
            : event.key === "ArrowUp"
              ? row.previousElementSibling
              : event.key === "Home"
                ? row.parentElement?.firstElementChild
                : event.key === "End"
                  ? row.parentElement?.lastElementChild
                  : null;
    if (to instanceof HTMLElement) {
        row.tabIndex = -1;
        to.tabIndex = 0;
        to.focus();
    } else if (event.key === "Enter" || event.key === " ") choose(event);
    else return;
    event.preventDefault();
}
