import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onPath, reportSkipped } from '@cpg/local-chain';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { openShop, type Shop } from './harness/merchants.ts';
import { installFromPyPi } from './harness/pypi.ts';
import { type Stack, startStack } from './harness/stack.ts';

// Each folder of `clients` has a program that uses the client which a generator makes of the served document. It prints
// the status of a new order, whether a list has it, its item by the history, its status in a later version of the API,
// its status after a cancellation, and the status code of a refusal.
const CLIENTS = fileURLToPath(new URL('../clients', import.meta.url));
const CACHE = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
const TSC = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url));
const LATER_STATUS = 'on_hold';
const SLOW_MS = 900_000;

const PYTHON = { name: 'openapi-python-client', version: '0.29.1', pythonAtLeast: [3, 11] } as const;
const GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const POM = join(CLIENTS, 'java', 'pom.xml');

interface Place {
  /** A folder for the generated code. */
  readonly folder: string;
  readonly document: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Language {
  /** Installs the generator. Rejects with the reason why this machine cannot run it. */
  readonly install: () => Promise<unknown>;
  /** Generates and compiles the client, runs the program, and resolves with its output. */
  readonly run: (place: Place) => Promise<string>;
  /** How the client shows a status that it does not know. */
  readonly laterStatus?: string;
}

const run = async (file: string, args: readonly string[], cwd: string, env = process.env): Promise<string> => {
  const options = { cwd, env, timeout: SLOW_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(file, args, options).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ''}`, { cause: error });
  });
  return stdout;
};

const requirePrograms = (...names: string[]): void => {
  for (const name of names) if (!onPath(name)) throw new Error(`${name} is missing`);
};

const LANGUAGES: Readonly<Record<string, Language>> = {
  TypeScript: {
    install: async () => {},
    run: async ({ folder, document, env }) => {
      await cp(join(CLIENTS, 'typescript'), folder, { recursive: true });
      const schema = await openapiTypescript(new URL(`file://${document}`));
      await writeFile(join(folder, 'schema.d.ts'), astToString(schema));
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
      await run(process.execPath, [TSC, ...strict, '--module', 'nodenext', '--target', 'es2022', 'shop.ts'], folder);
      return run(process.execPath, ['shop.js'], folder, env);
    },
  },
  Python: {
    install: () => installFromPyPi(PYTHON),
    run: async ({ folder, document, env }) => {
      const programs = await installFromPyPi(PYTHON);
      const templates = join(CLIENTS, 'python', 'templates');
      const options = ['--path', document, '--output-path', 'cpg_client', '--meta', 'none'];
      const path = [programs, process.env.PATH].join(delimiter);
      const args = ['generate', ...options, '--custom-template-path', templates];
      await run(join(programs, 'openapi-python-client'), args, folder, { ...process.env, PATH: path });
      const inFolder = { ...env, PYTHONPATH: folder };
      const runPython = (name: string) =>
        run(join(programs, 'python'), [join(CLIENTS, 'python', name)], folder, inFolder);
      const printed = await runPython('shop.py');
      // The example of the guide lists the order that shop.py canceled.
      expect(await runPython('orders.py')).toMatch(/^ord_\w+ canceled \d+\.\d{6}\n$/);
      // The second example of the guide follows the first.
      const examples = ['orders.py', 'refunds.py'].map((name) => readFile(join(CLIENTS, 'python', name), 'utf8'));
      const both = (await Promise.all(examples)).join('\n');
      expect(await run(join(programs, 'python'), ['-c', both], folder, inFolder)).toMatch(
        /\npaid due back: 2\.500000\nrfd_\w+ 2\.500000 due back: 0\n$/,
      );
      return printed;
    },
  },
  Go: {
    install: async () => {
      requirePrograms('go');
      await run('go', ['run', GO, '-version'], CLIENTS);
    },
    run: async ({ folder, document, env }) => {
      await cp(join(CLIENTS, 'go'), folder, { recursive: true });
      await mkdir(join(folder, 'cpg'));
      const options = ['-generate', 'types,client', '-package', 'cpg', '-o', 'cpg/cpg.gen.go'];
      await run('go', ['run', GO, ...options, document], folder);
      return run('go', ['run', '.'], folder, env);
    },
  },
  Java: {
    install: async () => {
      requirePrograms('java', 'mvn');
      await run('mvn', ['-q', '-B', '-ntp', '-f', POM, 'dependency:resolve', 'dependency:resolve-plugins'], CLIENTS);
    },
    run: ({ folder, document, env }) => {
      const options = ['-q', '-B', '-ntp', '-f', POM, `-Dout=${folder}`, `-Ddocument=${document}`];
      return run('mvn', [...options, 'compile', 'exec:java'], folder, env);
    },
    laterStatus: 'unknown_default_open_api',
  },
};

let stack: Stack;
let shop: Shop;
let later: Server;
let folder: string;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  [stack, folder] = await Promise.all([startStack(), mkdtemp(join(CACHE, 'clients-'))]);
  shop = await openShop(stack);
  later = await startLaterVersion();
  const document = await fetch(`${stack.baseUrl}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await document.text());
});
afterAll(async () => {
  later?.close();
  await Promise.all([shop?.api.close(), folder && rm(folder, { recursive: true, force: true })]);
  await stack?.stop();
});

/** Passes reads to the gateway, and gives orders a status of a later version of the API. */
const startLaterVersion = async (): Promise<Server> => {
  const server = createServer((request, response) => {
    const headers = { 'x-api-key': String(request.headers['x-api-key']) };
    void fetch(`${stack.baseUrl}${request.url}`, { headers }).then(async (answer) => {
      const body = (await answer.text()).replace('"status":"awaiting_payment"', `"status":"${LATER_STATUS}"`);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
};

test.each(['templates/str_enum.py.jinja', 'orders.py', 'refunds.py', 'receive.py'])(
  'the guide for merchants has %s for Python',
  async (name) => {
    const guide = await readFile(new URL('../../../../docs/merchants.md', import.meta.url), 'utf8');
    expect(guide).toContain(await readFile(join(CLIENTS, 'python', name), 'utf8'));
  },
);

for (const [name, { install, run: runProgram, laterStatus = LATER_STATUS }] of Object.entries(LANGUAGES)) {
  const missing = await install().then(
    () => null,
    (error: Error) => error.message.split('\n')[0]!,
  );
  if (missing !== null) reportSkipped(`the tests of the generated client in ${name} are skipped: ${missing}`);
  (missing === null ? test : test.skip)(
    `a generated client in ${name} compiles, and creates, lists, reads and cancels orders`,
    async () => {
      const own = join(folder, name);
      await mkdir(own);
      const { port } = later.address() as AddressInfo;
      const env = {
        ...process.env,
        BASE_URL: stack.baseUrl,
        LATER_URL: `http://127.0.0.1:${port}`,
        API_KEY: shop.key,
        API: stack.baseUrl,
        KEY: shop.key,
      };
      const output = await runProgram({ folder: own, document: join(folder, 'openapi.json'), env });
      expect(output).toContain(`RESULT awaiting_payment listed Coffee ${laterStatus} canceled 404`);
    },
    SLOW_MS,
  );
}
