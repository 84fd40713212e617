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
    select?: (row: Row) => void;
    selected?: (row: Row) => boolean;
    empty: string;
}

const SHOWN_AT_ONCE = 100;

export function table<Row>(spec: TableSpec<Row>): HTMLElement {
    if (!spec.rows.length) return nothing(spec.empty);
    let sorting = spec.sorting;
    let filter = "";
    let shown = SHOWN_AT_ONCE;
    const numeric = new Set(
        spec.columns.filter((c) => spec.rows.some((row) => typeof c.value(row) === "number")).map((c) => c.key),
    );

    const status = h("span", { class: "status", role: "status" });
    const overflow = h("span", { class: "hint overflow" });
    const body = h("tbody");
    const more = h("button", { type: "button", class: "more", onclick: () => ((shown += 10 * SHOWN_AT_ONCE), fill()) });
    const heads = spec.columns.map((column) => {
        const button = h(
            "button",
            { type: "button", title: column.hint ?? false, onclick: () => sortBy(column) },
            column.title,
        );
        return h("th", { scope: "col", class: numeric.has(column.key) ? "number" : false }, button);
    });

    const sortBy = (column: TableColumn<Row>) => {
        // What a reader looks for in numbers are the large ones.
        sorting = {
            key: column.key,
            descending: sorting.key === column.key ? !sorting.descending : numeric.has(column.key),
        };
        fill();
    };

    const fill = () => {
        const column = spec.columns.find(({ key }) => key === sorting.key) ?? spec.columns[0]!;
        const matching = spec.text ? filterRows(spec.rows, spec.text, filter) : spec.rows;
        const rows = sortRows(matching, column.value, sorting.descending);
        body.replaceChildren(...rows.slice(0, shown).map(line));
        heads.forEach((head, index) => {
            const key = spec.columns[index]!.key;
            head.setAttribute(
                "aria-sort",
                key !== sorting.key ? "none" : sorting.descending ? "descending" : "ascending",
            );
        });
        status.textContent =
            rows.length < spec.rows.length
                ? `${count(rows.length)} of ${count(spec.rows.length)}`
                : count(spec.rows.length);
        more.hidden = rows.length <= shown;
        more.textContent = `Show more (${count(rows.length - shown)} are not shown)`;
        const focusable = body.querySelector<HTMLElement>('tr[aria-selected="true"], tr');
        if (spec.select && focusable) focusable.tabIndex = 0;
    };

    const line = (row: Row) => {
        const cells = spec.columns.map((column) => {
            const content = column.show ? column.show(row) : String(column.value(row) ?? "–");
            return h("td", { class: numeric.has(column.key) ? "number" : false }, content);
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
    };

    fill();
    const field = spec.text
        ? h("input", {
              type: "search",
              "aria-label": spec.filterLabel ?? "Filter",
              placeholder: spec.filterLabel ?? "Filter",
              oninput: (event) => {
                  filter = (event.target as HTMLInputElement).value;
                  shown = SHOWN_AT_ONCE;
                  fill();
              },
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
