// Plays a front-end build: child processes, a bundle in dist, a development server on loopback; then more than that.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";

async function report(what, action) {
  try {
    const result = await action();
    console.log(`done     ${what}${result === undefined ? "" : `: ${result}`}`);
  } catch (error) {
    console.log(`refused  ${what}: ${error.code ?? error.message}`);
  }
}

function child() {
  const result = spawnSync(process.execPath, ["-e", "console.log(6 * 7)"], { encoding: "utf8" });
  if (result.error) throw result.error;
  return result.stdout.trim();
}

function bundle() {
  const source = readFileSync("src/app.js", "utf8");
  writeFileSync("dist/app.js", source.replaceAll("export const", "globalThis.app ="));
}

function listen(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer((_, response) => response.end("ready"));
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

async function serve() {
  const server = await listen(3000, "127.0.0.1");
  const response = await fetch("http://127.0.0.1:3000/");
  const text = await response.text();
  server.close();
  server.closeAllConnections();
  return text;
}

async function serveEverybody() {
  (await listen(3001, "0.0.0.0")).close();
}

function dial(port, host) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, timeout: 2000 }, () => resolve(socket.destroy() && undefined));
    socket.once("error", reject);
    socket.once("timeout", () => reject(new Error("timeout")));
  });
}

await report("start a child process", child);
await report("write the bundle", bundle);
await report("serve and fetch on loopback", serve);
await report("serve the network", serveEverybody);
await report("call another address", () => dial(443, "192.0.2.1"));
await report("change a source", () => writeFileSync("src/app.js", ""));
await report("read .npmrc", () => void readFileSync(".npmrc"));
