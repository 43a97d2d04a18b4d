/** Microsoft's DebugClient against the Python adapter: the code of a program, and where it comes from. */
"use strict";

const assert = require("node:assert/strict");
const { frames, localRow, pythonTest, stopHere } = require("./python.js");

const ROW = "source, loadedSources, modules, locations";

pythonTest(ROW, "the place where a function is defined is found", async (client) => {
  const { file, marks } = await stopHere(client, `
    def outer():
        def inner():  # defined
            pass
        return inner  # here
    outer()
  `);
  const { valueLocationReference } = await localRow(client, "inner");
  const { body } = await client.send("locations", { locationReference: valueLocationReference });
  assert.deepEqual([body.source.path, body.line], [file, marks.defined]);
});

pythonTest(ROW, "loaded sources are listed, and their text is served", async (client) => {
  const { file } = await stopHere(client, `
    import json
    print(json)  # here
  `);
  const { body: { sources } } = await client.send("loadedSources");
  const mine = sources.find((source) => source.path === file);
  const { body: { content } } = await client.send("source", { source: mine, sourceReference: mine.sourceReference ?? 0 });
  assert.match(content, /^import json/);
  assert.ok(mine.checksums.some(({ algorithm }) => algorithm === "SHA256"));
});

pythonTest(ROW, "text that has no file is served by a reference", async (client) => {
  await stopHere(client, `
    def called():
        return 1  # here
    exec("def made():\\n    return called()\\nmade()\\n")
  `);
  const made = (await frames(client)).find(({ name }) => name === "made");
  const { sourceReference } = made.source;
  assert.ok(sourceReference > 0);
  const { body: { content } } = await client.send("source", { source: made.source, sourceReference });
  assert.match(content, /def made/);
});

pythonTest(ROW, "modules are listed by pages", async (client) => {
  const { file } = await stopHere(client, "x = 1  # here\n");
  const { body: { modules, totalModules } } = await client.send("modules", { startModule: 0 });
  assert.equal(modules.length, totalModules);
  assert.equal(modules.find(({ name }) => name === "__main__").path, file);
  const { body: page } = await client.send("modules", { startModule: 1, moduleCount: 2 });
  assert.deepEqual(page.modules.map(({ id }) => id), modules.slice(1, 3).map(({ id }) => id));
});

pythonTest(ROW, "a reference that was never given out is refused", async (client) => {
  await stopHere(client, "x = 1  # here\n");
  await assert.rejects(client.send("source", { sourceReference: 4711 }), /4711/);
  await assert.rejects(client.send("locations", { locationReference: 4711 }), /4711/);
});
