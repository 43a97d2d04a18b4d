/** VS Code in a browser, as a user sees it: places to click, texts to read, and errors that it shows meanwhile. */

import assert from "node:assert/strict";

import { findOnPath } from "../src/programs";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";

const PATIENCE_MILLISECONDS = 60_000;
const BETWEEN_LOOKS_MILLISECONDS = 100;

export class Editor {
  /** Errors that were shown, in notifications or dialogs. */
  readonly errors: string[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
  ) {}

  /** Open a folder in a browser. */
  static async open(chromiumName: string, url: string, folder: string): Promise<Editor> {
    const executablePath = await findOnPath(chromiumName);
    assert.ok(executablePath !== undefined, `${chromiumName} is not installed`);
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: 1200, height: 720 } });
    page.setDefaultTimeout(PATIENCE_MILLISECONDS);
    const editor = new Editor(browser, page);
    await page.exposeFunction("reportError", (text: string) => editor.errors.push(text));
    await page.addInitScript(watchErrors);
    await page.goto(`${url}?folder=${encodeURIComponent(folder)}`);
    return editor;
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  async openFile(name: string): Promise<void> {
    await this.page.locator(".monaco-workbench .part.activitybar").waitFor();
    await this.page.keyboard.press("Control+Shift+E");
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).dblclick();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
    await this.page.locator(".view-line").first().waitFor();
  }

  /** Run a command of the palette by its title. */
  async run(command: string): Promise<void> {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await input.waitFor();
    await input.fill(`>${command}`);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: command }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Click beside the number of a line, as soon as the editor offers a breakpoint there. */
  async clickGutter(line: number): Promise<void> {
    const box = await boxOf(this.lineNumber(line));
    const [x, y] = [box.x - 10, box.y + box.height / 2];
    await this.eventually(async () => {
      await this.page.mouse.move(x, y + 1);
      await this.page.mouse.move(x, y);
      assert.equal(await this.page.locator(".glyph-margin-widgets .codicon-debug-hint").count(), 1);
    });
    await this.page.mouse.click(x, y);
  }

  /** Remove all breakpoints. */
  async removeBreakpoints(): Promise<void> {
    await this.run("Remove All Breakpoints");
    await this.breakpoints().first().waitFor({ state: "detached" });
  }

  breakpoints(): Locator {
    return this.page.locator(".glyph-margin-widgets .codicon-debug-breakpoint");
  }

  /** A button at the right end of the tabs. */
  titleButton(name: string): Locator {
    return this.page.locator(`.editor-actions .action-label[aria-label^="${name}"]`);
  }

  /** Start a configuration of launch.json, which the editor may still have to read. */
  async start(name: string): Promise<void> {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first();
    await this.eventually(async () => {
      await this.page.keyboard.press("Escape");
      await this.run("Debug: Select and Start Debugging");
      await this.page.locator(".quick-input-list .monaco-list-row", { hasText: "Add Configuration" }).waitFor();
      assert.equal(await row.count(), 1, `there is no configuration ${name}`);
    });
    await row.click();
  }

  /** Choose what a text is typed for in a list. */
  async pick(text: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await this.page.locator('.quick-input-widget input[placeholder^="The process"]').waitFor();
    await input.fill(text);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  lineNumber(line: number): Locator {
    return this.page.locator(".margin-view-overlays .line-numbers", { hasText: new RegExp(`^${String(line)}$`) });
  }

  /** The text of a line, with what is shown beside it. */
  async textOfLine(line: number): Promise<string> {
    return plain(await (await this.viewLine(line)).textContent());
  }

  /** Rest with the pointer on a word of a line. */
  async hover(line: number, word: string): Promise<void> {
    const place = await (await this.viewLine(line)).evaluate(placeOfWord, word);
    assert.ok(place !== undefined, `line ${String(line)} has no ${word}`);
    await this.page.mouse.move(place.x + 1, place.y);
    await this.page.mouse.move(place.x, place.y);
  }

  /** The frames of the call stack, each as its texts joined by spaces: name, file, place. */
  async frames(): Promise<string[]> {
    const rows = await this.page.locator(".debug-call-stack .stack-frame").all();
    return Promise.all(rows.map(textOf));
  }

  /** The rows of a section of the debug view, such as Variables or Watch. */
  rows(section: string): Locator {
    return this.page.locator(`.pane:has(.pane-header[aria-label^="${section}"]) .monaco-list-row`);
  }

  /** Wait until the topmost frame is that of a function, at a line. */
  async stoppedIn(place: string): Promise<void> {
    await this.eventually(async () => {
      const [top = ""] = await this.frames();
      assert.ok(top.startsWith(place), `the program is at ${top || "no line"}, expected ${place}`);
    });
  }

  /** Wait until a place of the workbench shows a text. */
  async shows(place: Locator, text: string): Promise<void> {
    await this.eventually(async () => {
      const shown = (await Promise.all((await place.all()).map(textOf))).join("\n");
      assert.ok(shown.includes(text), `expected ${text} in: ${shown}`);
    });
  }

  private async viewLine(line: number): Promise<Locator> {
    const number = await boxOf(this.lineNumber(line));
    for (const found of await this.page.locator(".editor-instance .view-line").all()) {
      const box = await found.boundingBox();
      if (box !== null && Math.abs(box.y - number.y) < number.height / 2) {
        return found;
      }
    }
    throw new Error(`line ${String(line)} is not in view`);
  }

  async addWatch(expression: string): Promise<void> {
    const header = this.page.locator('.pane-header[aria-label^="Watch"]');
    await header.hover();
    await header.locator('.action-label[aria-label="Add Expression"]').click();
    await this.rows("Watch").locator("input").fill(expression);
    await this.page.keyboard.press("Enter");
  }

  /** The rows of the debug console. */
  console(): Locator {
    return this.page.locator(".repl .monaco-list-row");
  }

  async typeIntoConsole(text: string): Promise<void> {
    await this.page.locator(".repl-input-wrapper .monaco-editor").click();
    await this.page.keyboard.type(text);
  }

  /** Give a variable another value by its menu; F2 alone means the variable whose menu was open last. */
  async setVariable(name: string, value: string): Promise<void> {
    const row = this.rows("Variables").filter({ hasText: new RegExp(`^${name} =`) });
    await row.click({ button: "right" });
    await this.page.locator(".monaco-menu .action-item.focused, .monaco-menu .action-label").first().waitFor();
    await this.page.keyboard.press("ArrowDown"); // to the first entry
    await this.page.keyboard.press("Enter");
    await row.locator("input").fill(value);
    await this.page.keyboard.press("Enter");
  }

  /** Look again until what is checked is so. */
  async eventually(check: () => Promise<void>): Promise<void> {
    const end = Date.now() + PATIENCE_MILLISECONDS;
    for (;;) {
      try {
        await check();
        return;
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
        await this.page.waitForTimeout(BETWEEN_LOOKS_MILLISECONDS);
      }
    }
  }
}

async function boxOf(locator: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await locator.boundingBox();
  assert.ok(box !== null, "it is not in view");
  return box;
}

async function textOf(locator: Locator): Promise<string> {
  return plain(await locator.innerText({ timeout: BETWEEN_LOOKS_MILLISECONDS * 10 }));
}

function plain(text: string | null): string {
  return (text ?? "").replaceAll("\u200b", "").split(/\s+/).join(" ").trim();
}

/** Return the middle of the first place where an element has a word; runs in the page. */
function placeOfWord(element: Element, word: string): { x: number; y: number } | undefined {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const start = node.nodeValue?.indexOf(word) ?? -1;
    if (start >= 0) {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, start + word.length);
      const box = range.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }
  }
  return undefined;
}

/** Report each error that appears; runs in the page. */
function watchErrors(): void {
  const seen = new WeakSet<Element>();
  const errors = ".notification-list-item:has(.codicon-error), .monaco-dialog-box:has(.codicon-error)";
  const report = (window as unknown as { reportError: (text: string) => void }).reportError;
  new MutationObserver(() => {
    for (const found of document.querySelectorAll(errors)) {
      if (!seen.has(found)) {
        seen.add(found);
        report(found.textContent);
      }
    }
  }).observe(document, { childList: true, subtree: true });
}
