// The manifest: what it names is there, and what the code reads is declared.

import assert from "node:assert/strict";
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const read = async (name) => JSON.parse(await readFile(path.join(root, name), "utf8"));
const manifest = await read("package.json");

test("every file that the manifest names is there", async () => {
  const { languages, grammars } = manifest.contributes;
  for (const name of [...languages.map((language) => language.configuration), ...grammars.map((grammar) => grammar.path)]) {
    await access(path.join(root, name));
  }
});

test("the code is compiled to where the manifest looks for it", async () => {
  const { compilerOptions } = await read("tsconfig.json");
  assert.equal(manifest.main, `./${compilerOptions.outDir}/extension.js`);
  await access(path.join(root, compilerOptions.rootDir, "extension.ts"));
});

test("every setting that the code reads is declared, and every command", async () => {
  const code = await readFile(path.join(root, "src/extension.ts"), "utf8");
  const settings = [...code.matchAll(/settings\.get(?:<.+?>)?\("([^"]+)"\)/g)].map((match) => `remit.${match[1]}`);
  assert.ok(settings.length >= 3, settings.join());
  for (const setting of settings) {
    assert.ok(setting in manifest.contributes.configuration.properties, setting);
  }
  for (const { command } of manifest.contributes.commands) {
    assert.ok(code.includes(`registerCommand("${command}"`), command);
  }
});

test("what could start a program is restricted where the workspace is not trusted", () => {
  assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes("remit.server.path"));
});

test("the word pattern takes names of the language whole", async () => {
  const { wordPattern } = await read("language-configuration.json");
  const words = "use std::git, @system-service open-files _a".match(new RegExp(wordPattern, "g"));
  assert.deepEqual(words, ["use", "std::git", "@system-service", "open-files", "_a"]);
});

test("the lock file names no registry", async () => {
  assert.ok(!(await readFile(path.join(root, "package-lock.json"), "utf8")).includes("://registry"));
});
