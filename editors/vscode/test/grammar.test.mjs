// The TextMate grammar, as the editor applies it.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const here = path.dirname(fileURLToPath(import.meta.url));
const repository = path.resolve(here, "../../..");

const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
const file = path.join(here, "../syntaxes/remit.tmLanguage.json");
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(await readFile(file, "utf8"), file),
});
const grammar = await registry.loadGrammar("source.remit");

/** Every token of a text with its most specific scope. */
function tokens(text) {
  const found = [];
  let stack = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const token of result.tokens) {
      const piece = line.slice(token.startIndex, token.endIndex);
      if (piece.trim() !== "") {
        found.push([piece.trim(), token.scopes.at(-1)]);
      }
    }
  }
  return found;
}

function scope(text, piece) {
  return tokens(text).find(([found]) => found === piece)?.[1];
}

test("words, names and values have scopes of their own", () => {
  const policy = `include "a.remit"
group org::build { use std::git, std::node }
policy "p" {
    param mem: size = 4GiB
    filesystem { deny read "\${w}/.env\\n" if present because "x" } // why
    network { allow connect tcp "1.2.3.4:5" }
    process { allow syscall @debug, "ioctl" where request == TIOCSTI & 0xff }
    require cgroup-bpf
}`;
  for (const [piece, expected] of [
    ["include", "keyword.declaration.remit"],
    ["org::build", "entity.name.namespace.remit"],
    ["std::git", "entity.name.namespace.remit"],
    ["mem", "variable.parameter.remit"],
    ["size", "support.type.remit"],
    ["4", "constant.numeric.remit"],
    ["GiB", "keyword.other.unit.remit"],
    ["filesystem", "keyword.control.block.remit"],
    ["deny", "keyword.control.effect.refusal.remit"],
    ["allow", "keyword.control.effect.grant.remit"],
    ["read", "support.constant.remit"],
    ["${", "punctuation.definition.interpolation.begin.remit"],
    ["w", "variable.parameter.remit"],
    ["\\n", "constant.character.escape.remit"],
    ["if present", "keyword.other.suffix.remit"],
    ["@debug", "entity.name.namespace.syscalls.remit"],
    ["TIOCSTI", "variable.other.constant.remit"],
    ["0xff", "constant.numeric.remit"],
    ["==", "keyword.operator.remit"],
    ["cgroup-bpf", "support.variable.remit"],
  ]) {
    assert.equal(scope(policy, piece), expected, piece);
  }
});

test("comments and strings hide what is in them", () => {
  const all = tokens('policy "// deny" { /* allow\n"x */ deny // forbid "y');
  assert.deepEqual(
    all.filter(([, scope]) => scope.startsWith("keyword.control")).map(([piece]) => piece),
    ["deny"],
  );
});

test("a word within a longer one is no keyword", () => {
  assert.equal(scope("policy \"p\" { param deny-all: path }", "deny-all"), "variable.parameter.remit");
  assert.equal(scope("process { allow syscall \"x\" where is_read == B }", "is_read"), "source.remit");
});

test("a string that is not closed ends with its line", () => {
  const all = tokens('summary "open\nallow read "/a"');
  assert.equal(all.find(([piece]) => piece === "allow")?.[1], "keyword.control.effect.grant.remit");
});

test("an escape that does not exist is marked", () => {
  assert.equal(scope('summary "a\\q"', "\\q"), "invalid.illegal.escape.remit");
});

async function policies(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".remit"))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

test("every policy of the repository is coloured without a mark, and every bare word in it is known", async () => {
  const folders = ["examples", "policy-lang/std", "policy-lang/tests/fixtures/good"];
  const files = (await Promise.all(folders.map((folder) => policies(path.join(repository, folder)).catch(() => [])))).flat();
  assert.ok(files.length > 10, `only ${files.length} files`);
  for (const name of files) {
    const text = await readFile(name, "utf8");
    for (const [piece, scope] of tokens(text)) {
      assert.ok(!scope.startsWith("invalid"), `${name}: ${piece}`);
      // Names of arguments are the only bare words.
      assert.ok(scope !== "source.remit" || /^[a-z_][a-z0-9_]*$/.test(piece), `${name}: ${piece}`);
    }
  }
});
