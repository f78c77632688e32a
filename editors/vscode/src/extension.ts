// Starts `remit lsp` and lets it do the rest. Only settings and the files of the language's own groups pass through here.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

/** The scheme of files that come with the language. */
const STANDARD_SCHEME = "remit-std";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("remit.restart", restart),
    vscode.workspace.registerTextDocumentContentProvider(STANDARD_SCHEME, { provideTextDocumentContent: standardGroup }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("remit")) {
        void restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restart()),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("remit");
  const command = settings.get<string>("server.path") || "remit";
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "remit" },
      { scheme: "untitled", language: "remit" },
    ],
    initializationOptions: {
      root: settings.get<string>("root") || null,
      parameters: settings.get<Record<string, string>>("parameters") ?? {},
      standardGroups: true,
    },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.remit") },
  };
  client = new LanguageClient("remit", "Remit", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(
      `\`${command} lsp\` could not be started: ${reason}. Install remit, or set "remit.server.path".`,
    );
  }
}

async function standardGroup(uri: vscode.Uri): Promise<string> {
  const text = await client?.sendRequest<string | null>("remit/standardGroup", uri.toString());
  return text ?? `// ${uri.path} does not come with this version of remit.\n`;
}
