// The real server, spoken to with the protocol library that the extension uses. REMIT names the binary.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import test from "node:test";

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = createRequire(
  require.resolve("vscode-languageclient/node"),
)("vscode-languageserver-protocol/node");

const binary = process.env.REMIT;

test("a policy is judged and laid out as it is typed", { skip: binary ? false : "REMIT names no binary" }, async () => {
  const server = spawn(binary, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const findings = [];
  let told = () => {};
  connection.onNotification("textDocument/publishDiagnostics", (params) => {
    findings.push(params);
    told();
  });
  connection.listen();
  const { capabilities } = await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    initializationOptions: { root: null, parameters: {}, standardGroups: true },
  });
  assert.equal(capabilities.positionEncoding, "utf-16");
  await connection.sendNotification("initialized", {});

  const uri = "untitled:Untitled-1";
  const first = new Promise((resolve) => (told = resolve));
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "remit", version: 1, text: 'policy "p"{filesystem{alow read "/usr"}}' },
  });
  await first;
  assert.deepEqual(findings.at(-1).diagnostics.map((found) => found.code), ["R0108"]);

  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 0, character: 23 }, end: { line: 0, character: 23 } }, text: "l" }],
  });
  const edits = await connection.sendRequest("textDocument/formatting", {
    textDocument: { uri },
    options: { tabSize: 4, insertSpaces: true },
  });
  assert.equal(edits[0].newText, 'policy "p" {\n    filesystem { allow read "/usr" }\n}\n');

  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await ended, 0);
});
