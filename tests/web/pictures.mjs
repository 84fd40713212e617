// Takes a picture of every view: node tests/web/pictures.mjs PAGE.html FOLDER [WIDTH] [light|dark]
// For looking at them, and for docs/images.
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const [, , page, folder, width = "1280", scheme = "light"] = process.argv;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox"],
});
const tab = await browser.newPage({
    viewport: { width: Number(width), height: 900 },
    colorScheme: scheme,
});
tab.on("console", (message) => console.log(message.type(), message.text()));
tab.on("pageerror", (error) => console.log("error", error));
await tab.goto(pathToFileURL(resolve(page)).href);
await tab.locator("#page[data-ready]").waitFor();
const tabs = await tab.locator("[role=tab]").evaluateAll((all) => all.map(({ id }) => id.replace("tab-", "")));
for (const view of tabs) {
    await tab.click(`#tab-${view}`);
    await tab.waitForTimeout(300);
    if (view === "calls")
        await tab
            .locator(`#panel-${view} tr.choice`)
            .first()
            .click({ timeout: 500 })
            .catch(() => {});
    if (view === "files")
        await tab
            .locator(`#panel-${view} tr.choice`)
            .first()
            .click({ timeout: 500 })
            .catch(() => {});
    await tab.waitForTimeout(200);
    await tab.screenshot({
        path: `${folder}/${view}-${scheme}-${width}.png`,
        fullPage: true,
    });
}
await browser.close();
