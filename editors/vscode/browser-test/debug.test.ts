/**
 * A session as a user has it, from the gutter to the stop button, in code-server and Chromium.
 *
 * The steps follow one another; after one that fails the others are skipped. Each fails on any error that the editor
 * shows. DAPKIT_VSIX is the extension, DAPKIT_TEST_PYTHON an interpreter that has dapkit. Pictures for the documentation
 * go into DAPKIT_PICTURES, if that is given; one of the step that failed into DAPKIT_REPORTS.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { freePort, startCodeServer, type CodeServer } from "./code-server";
import { Editor } from "./editor";

const PROGRAMS = path.resolve(__dirname, "../../browser-test/shop");
const PYTHON = needed("DAPKIT_TEST_PYTHON");
const [LOOP, SUM] = [18, 19];
const PARCELS = 6;
const COUNT = 7;

let home: string;
let shop: string;
let server: CodeServer | undefined;
let editor: Editor;
let adapter: ChildProcess | undefined;
let clock: ChildProcess | undefined;
let isBroken = false;

before(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), "dapkit-vscode-"));
  shop = path.join(home, "shop");
  await fs.cp(PROGRAMS, shop, { recursive: true });
  execFileSync(PYTHON, ["-m", "venv", "--without-pip", path.join(shop, ".venv")]);
  await fs.writeFile(path.join(shop, ".env"), "SHOP=corner\n");
  server = await startCodeServer(needed("DAPKIT_VSIX"), home);
  editor = await Editor.open("chromium", server.url, shop);
});

after(async () => {
  await (editor as Editor | undefined)?.close();
  adapter?.kill();
  clock?.kill();
  await server?.stop();
  await fs.rm(home, { recursive: true, force: true, maxRetries: 10 });
});

step("a click beside the line number sets a breakpoint", async () => {
  await editor.openFile("shop.py");
  await editor.clickGutter(SUM);
  await editor.breakpoints().waitFor();
});

step("the button in the title bar debugs the file without a launch.json, in the .venv of the folder", async () => {
  await editor.titleButton("Debug with dapkit").click();
  await editor.stoppedIn(`total_of shop.py ${String(SUM)}`);
  await editor.shows(editor.rows("Variables"), "total = 0");
});

step("values of the function are shown beside its lines", async () => {
  await editor.eventually(async () => {
    assert.match(await editor.textOfLine(SUM - 2), /total = 0 total = 0$/);
    assert.match(await editor.textOfLine(SUM), /order\.quantity total = 0, order = Order\(name='tea'/);
  });
  await picture("stopped");
});

step("hovering over an attribute shows its value, over a keyword nothing", async () => {
  const hover = editor.page.locator(".debug-hover-widget");
  await editor.hover(SUM, "quantity");
  await editor.shows(hover, "2");
  await editor.hover(LOOP, "for");
  await hover.waitFor({ state: "hidden" });
});

step("a watch is evaluated", async () => {
  await editor.addWatch("order.price * 100");
  await editor.shows(editor.rows("Watch"), "order.price * 100 = 400");
});

step("a step goes on to the next statement", async () => {
  await editor.page.keyboard.press("F10");
  await editor.stoppedIn(`total_of shop.py ${String(LOOP)}`);
  await editor.shows(editor.rows("Variables"), "total = 8");
});

step("a value is changed", async () => {
  await editor.setVariable("total", "50");
  await editor.shows(editor.rows("Variables"), "total = 50");
});

step("the console completes attributes, and evaluates", async () => {
  await editor.run("Debug Console: Focus on Debug Console View");
  await editor.typeIntoConsole("order.quan");
  await editor.shows(editor.page.locator(".suggest-widget"), "quantity");
  await picture("console");
  await editor.page.keyboard.press("Tab");
  await editor.page.keyboard.type(" + total");
  await editor.page.keyboard.press("Enter");
  await editor.shows(editor.console(), "\n52");
});

step("the stop button ends the program", async () => {
  await editor.page.locator(".debug-toolbar .action-label[aria-label^='Stop']").click();
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

step("an entry for debugpy runs as it is, with nulls and the variables of .env", async () => {
  await launchJson({
    type: "debugpy",
    request: "launch",
    name: "Shop",
    module: "shop",
    args: null,
    justMyCode: null,
    console: "internalConsole",
    python: "${command:python.interpreterPath}",
  });
  await editor.start("Shop");
  await editor.stoppedIn(`total_of shop.py ${String(SUM)}`);
  await editor.typeIntoConsole("__import__('os').environ['SHOP']");
  await editor.page.keyboard.press("Enter");
  await editor.shows(editor.console(), "'corner'");
  await editor.removeBreakpoints();
  await editor.page.keyboard.press("F5");
  await editor.shows(editor.console(), "total 15");
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

step("an adapter that listens on a port is reached, though it asks for a token", async () => {
  const port = await freePort();
  adapter = spawn(PYTHON, ["-m", "dapkit.python", "--listen", `127.0.0.1:${String(port)}`], { stdio: "ignore" });
  await listens(port);
  await launchJson({
    type: "dapkit",
    request: "launch",
    name: "By port",
    program: "${workspaceFolder}/shop.py",
    debugServer: port,
    trace: "wire.jsonl",
  });
  await editor.clickGutter(SUM);
  await editor.start("By port");
  await editor.stoppedIn(`total_of shop.py ${String(SUM)}`);
  assert.match(await fs.readFile(path.join(shop, "wire.jsonl"), "utf8"), /"command":"setBreakpoints"/);
  await editor.page.keyboard.press("Shift+F5");
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

step("a child process has a session of its own, in which it is stepped", async () => {
  await launchJson({ type: "dapkit", request: "launch", name: "Family", program: "${workspaceFolder}/shop.py" });
  await editor.removeBreakpoints();
  await editor.openFile("worker.py");
  await editor.clickGutter(PARCELS);
  await editor.start("Family");
  await editor.stoppedIn(`<module> worker.py ${String(PARCELS)}`);
  await editor.shows(editor.rows("Call Stack"), "worker.py [");
  await editor.page.keyboard.press("F10");
  await editor.stoppedIn(`<module> worker.py ${String(PARCELS + 1)}`);
  await editor.shows(editor.rows("Variables"), "count = 2");
  await picture("child");
  await editor.page.keyboard.press("F5");
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

step("a program that runs is picked from a list and attached to, and runs on afterwards", async () => {
  await launchJson({ type: "dapkit", request: "attach", name: "Running", processId: "${command:pickProcess}" });
  await editor.removeBreakpoints();
  await editor.openFile("clock.py");
  await editor.clickGutter(COUNT);
  clock = spawn(PYTHON, [path.join(shop, "clock.py")], { stdio: "ignore" });
  await editor.start("Running");
  await editor.pick(String(clock.pid));
  await editor.stoppedIn(`<module> clock.py ${String(COUNT)}`);
  await editor.shows(editor.rows("Variables"), "count =");
  await editor.page.keyboard.press("Shift+F5"); // disconnects
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
  assert.equal(clock.exitCode, null);
});

step("a run is recorded, and the recording is debugged backwards", async () => {
  await fs.rm(path.join(shop, ".vscode"), { recursive: true });
  await editor.removeBreakpoints();
  await editor.openFile("shop.py");
  await editor.run("Python: Record a run with dapkit");
  await editor.page.getByRole("button", { name: "Debug the recording" }).click();
  await editor.run("View: Show Run and Debug");
  await editor.eventually(async () => {
    assert.match((await editor.frames()).join(), /shop\.py/); // where the recording ends
  });
  await editor.page.locator(".debug-toolbar .action-label[aria-label^='Step Back']").click();
  await editor.shows(editor.rows("Variables"), "orders =");
  await editor.page.keyboard.press("Shift+F5");
  await editor.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});

/** Add a step to the session. */
function step(name: string, act: () => Promise<void>): void {
  void test(name, async (context) => {
    if (isBroken) {
      context.skip("an earlier step failed");
      return;
    }
    isBroken = true;
    try {
      await act();
      assert.deepEqual(editor.errors, [], "the editor has shown errors");
    } catch (error) {
      await savePicture(process.env["DAPKIT_REPORTS"], "failed");
      throw error;
    }
    isBroken = false;
  });
}

async function launchJson(configuration: object): Promise<void> {
  await fs.mkdir(path.join(shop, ".vscode"), { recursive: true });
  const content = JSON.stringify({ version: "0.2.0", configurations: [configuration] });
  await fs.writeFile(path.join(shop, ".vscode/launch.json"), content);
}

async function picture(name: string): Promise<void> {
  await savePicture(process.env["DAPKIT_PICTURES"], name);
}

async function savePicture(folder: string | undefined, name: string): Promise<void> {
  if (folder !== undefined) {
    await editor.page.screenshot({ path: path.join(folder, `vscode-${name}.png`) });
  }
}

/** Wait until somebody listens on a port. */
async function listens(port: number): Promise<void> {
  await editor.eventually(async () => {
    const socket = net.connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  });
}

function needed(name: string): string {
  const value = process.env[name];
  assert.ok(value !== undefined, `${name} is not set`);
  return value;
}
