/** Elements in one expression: h("p", { class: "note" }, "text", element). */

type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
export type Child = Node | string | null | undefined | false | Child[];

/** An element; attributes that begin with `on` are listeners, false and null leave an attribute out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Record<string, Attribute> = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    add(element, children);
    return element;
}

/** Appends children as h() does. */
export function add(element: Element, children: Child[]): void {
    for (const child of children) {
        if (Array.isArray(child)) add(element, child);
        else if (child !== null && child !== undefined && child !== false) element.append(child);
    }
}

/** Text in which `words between backticks` are code. */
export function prose(text: string): Child[] {
    return text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

/** A sentence in place of what is not there. */
export function nothing(text: string): HTMLElement {
    return h("p", { class: "nothing" }, text);
}

/** A path that is cut at its begin when it is too long: the end says most. */
export function pathCell(path: string): HTMLElement {
    return h("span", { class: "path", title: path }, h("bdi", {}, path));
}
