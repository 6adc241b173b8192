import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@cpg/ports';
import { onPath, reportSkipped } from '@cpg/local-chain';
import type { StackFiles } from './harness/stack-files.ts';
import { type Stack, startStack } from './harness/stack.ts';

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));
const HOOK_PORT = 3000;
// A document runs up to twenty commands of operators, each in some processes of its own.
const SLOW = 600_000;

/** A fenced `sh` block of a document. A comment `<!-- not tested here: why -->` before it leaves it out; `<!-- needs
 *  PROGRAM -->` runs it only where that program is installed. */
interface ShellExample {
  readonly line: number;
  readonly code: string;
  /** Texts that the lines `# prints TEXT` promise, in order. */
  readonly prints: readonly string[];
}

/** The examples of a Markdown document that run here, in order. `has` tells whether a program is installed. */
const shellExamples = (markdown: string, has: (program: string) => boolean): ShellExample[] =>
  [...markdown.matchAll(/(?:<!-- (.+?) -->\n+)?```sh\n([\s\S]*?)```/g)].flatMap(({ 1: note = '', 2: code, index }) => {
    const program = /^needs (\S+)$/.exec(note)?.[1];
    if (note.startsWith('not tested here: ') || (program && !has(program))) return [];
    const prints = [...code!.matchAll(/^# prints (.+)$/gm)].map(([, text]) => text!);
    return [{ line: markdown.slice(0, index).split('\n').length, code: code!, prints }];
  });

/** Runs all examples of a document in one shell, as a reader would who pastes one after another, against a started
 *  stack. A failing command, an HTTP error and a promised text that is missing end it. Resolves with null, or with what
 *  went wrong. */
const runShellExamples = async (document: string, shell: Shell, stack: StackFiles): Promise<string | null> => {
  const examples = shellExamples(readFileSync(join(CHECKOUT, document), 'utf8'), has);
  const folder = checkoutWithData(stack.dataDir);
  try {
    const { code, output } = await runShell(shell, await scriptOf(examples), folder, stack);
    const parts = output.split(/^@@ \d+\n/m).slice(1);
    for (const [index, { line, prints }] of examples.entries()) {
      const printed = parts[index] ?? '';
      const missing = prints.find((text) => !printed.includes(text));
      if (missing !== undefined) return `${document}:${line} did not print ${missing}:\n${printed}`;
    }
    return code === 0 ? null : `${document} ended with exit code ${code}:\n${output}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const scriptOf = async (examples: readonly ShellExample[]): Promise<string> => {
  // The documents use port 3000 for the reader's own server; here another program may have it.
  const port = await freePort();
  return [
    'set -euo pipefail',
    'exec 2>&1',
    'curl() { command curl --fail-with-body "$@"; }',
    ...examples.map(
      ({ line, code }) => `printf '\\n@@ %s\\n' ${line}\n${code.replaceAll(`${HOOK_PORT}`, String(port))}`,
    ),
  ].join('\n');
};

/** A folder that looks like the checkout in which the stack was started: its files, and the data of that stack as
 *  `.data`. */
const checkoutWithData = (dataDir: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-examples-'));
  for (const name of readdirSync(CHECKOUT).filter((entry) => !['.data', '.git'].includes(entry)))
    symlinkSync(join(CHECKOUT, name), join(folder, name));
  symlinkSync(dataDir, join(folder, '.data'));
  return folder;
};

type Shell = keyof typeof SHELLS;

/** How each shell runs a script. zsh reads it as an interactive shell reads what is pasted: `#` begins no comment, so
 *  that a line `# ...` is a command, and the words of it are expanded. */
const SHELLS = {
  bash: { args: (script: string) => ['-c', script], input: () => '' },
  zsh: {
    args: () => ['-f', '-i', '-s', '+o', 'promptsp', '+o', 'promptcr', '+o', 'monitor'],
    input: (script: string) => `\\#() { : }\n${script}\nexit 0\n`,
  },
};

const runShell = (
  name: Shell,
  script: string,
  cwd: string,
  stack: StackFiles,
): Promise<{ code: number | null; output: string }> =>
  new Promise((done, fail) => {
    // A process group of its own: servers that an example starts in the background end with it.
    const shell = spawn(name, SHELLS[name].args(script), {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', DATA_DIR: stack.dataDir, PS1: '', PS2: '' },
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // A failing command ends the shell before it has read all.
    shell.stdin.on('error', () => {});
    shell.stdin.end(SHELLS[name].input(script));
    let output = '';
    shell.stdout.on('data', (bytes) => (output += String(bytes)));
    shell.once('error', fail);
    shell.once('exit', () => {
      try {
        process.kill(-shell.pid!, 'SIGKILL');
      } catch {
        // No process of the group is left.
      }
    });
    shell.once('close', (code) => done({ code, output }));
  });

const has = (program: string): boolean => onPath(program) !== null;

const DOCUMENTS = [
  'README.md',
  'docs/merchants.md',
  'docs/events.md',
  'docs/operators/run.md',
  'docs/operators/configure.md',
  'docs/operators/secrets.md',
  'docs/operators/recover.md',
  'docs/auditors.md',
];

if (!has('zsh')) reportSkipped('tests of examples in zsh are skipped: zsh is missing; on Debian, apt-get install zsh');

describe.each(['bash', 'zsh'] as const)('in %s', (shell) => {
  // One for each shell: an example may name something once only, such as the key of an account.
  let stack: Stack;
  beforeAll(async () => {
    if (has(shell)) stack = await startStack();
  });
  afterAll(() => stack?.stop());

  (has(shell) ? test : test.skip).each(DOCUMENTS)(
    'every shell example of %s runs as it stands and prints what it promises',
    async (document) => expect(await runShellExamples(document, shell, stack)).toBeNull(),
    SLOW,
  );
});

test('an example is left out for a reason, or where its program is missing', () => {
  const markdown = [
    '```sh\necho one\n# prints one\n```',
    '<!-- not tested here: stops the stack -->\n\n```sh\nnpm stop\n```',
    '<!-- needs kcat -->\n\n```sh\nkcat\n```',
  ].join('\n\n');
  expect(shellExamples(markdown, () => false)).toEqual([
    { line: 1, code: 'echo one\n# prints one\n', prints: ['one'] },
  ]);
  expect(shellExamples(markdown, () => true).map(({ code }) => code)).toEqual(['echo one\n# prints one\n', 'kcat\n']);
});
