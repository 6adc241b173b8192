import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';

const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
const TSC = join(PACKAGE, 'node_modules/typescript/bin/tsc');
const EXAMPLES = ['shop.ts', 'consumer.ts'];
let folder: string;
let shop: string;

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, stdio: 'pipe' });

// A copy of the package is packed by npm alone, and installed in an empty folder without any registry.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cpg-sdk-'));
  const source = join(folder, 'source');
  cpSync(PACKAGE, source, { recursive: true, filter: (path) => !/[/\\](node_modules|dist|\.turbo)$/.test(path) });
  symlinkSync(join(PACKAGE, 'node_modules'), join(source, 'node_modules'));
  run('npm', ['pack', '--pack-destination', folder], source);
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  shop = join(folder, 'shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'package.json'), '{ "name": "shop", "private": true }');
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed)], shop);
  // What a team that reads Kafka installs beside it.
  symlinkSync(join(PACKAGE, 'node_modules/zod'), join(shop, 'node_modules/zod'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = (path: string) => join(shop, 'node_modules/@cpg/sdk', path);

test('the package names no other package of this repository, and nothing is installed with it', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(installed('package.json'), 'utf8')) as Record<
    string,
    Record<string, string> | undefined
  >;
  expect([dependencies, peerDependencies]).toEqual([undefined, { zod: '^4.0.0' }]);
  expect(readdirSync(join(shop, 'node_modules')).sort()).toEqual(['.package-lock.json', '@cpg', 'zod']);
  const built = readdirSync(installed('dist'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(js|ts)$/.test(path),
  );
  for (const path of built) {
    const code = readFileSync(installed(join('dist', path)), 'utf8');
    const imported = [...code.matchAll(/(?:from |require\(|import\()["']([^"'.][^"']*)["']/g)].map(([, name]) => name!);
    expect({ path, imported: [...new Set(imported)].filter((name) => name !== 'zod') }).toEqual({ path, imported: [] });
  }
});

test.each(['README.md', 'webhooks.md'])('each link of %s leads to a file of the package', (document) => {
  const links = [...readFileSync(installed(document), 'utf8').matchAll(/\]\((?!https:)([^)#\s]+)/g)].map(
    ([, link]) => link!,
  );
  expect(links.filter((link) => !existsSync(installed(link)))).toEqual([]);
});

describe.each([
  ['ESM', 'module'],
  ['CommonJS', 'commonjs'],
])('an example of a merchant in %s', (_, type) => {
  let server: Server;
  const requests: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      const order = { id: 'ord_1', status: 'canceled', items: [{ id: 'ord_1', status: 'canceled' }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(order));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  test('compiles strictly with the types of the package, and runs', async () => {
    const project = join(shop, type);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
    for (const name of EXAMPLES) cpSync(join(PACKAGE, 'examples', name), join(project, name));
    const compilerOptions = {
      module: 'node16',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      // Also the declarations of the package are checked.
      skipLibCheck: false,
      outDir: 'out',
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: EXAMPLES }));
    run(process.execPath, [TSC, '-p', project], project);

    const { port } = server.address() as AddressInfo;
    const script = `import('./out/shop.js').then((one) => (one.sell ?? one.default.sell)({ baseUrl: 'http://127.0.0.1:${port}', apiKey: 'k' }))
      .then((order) => console.log(order.status))
      .then(() => import('./out/consumer.js')).then((one) => console.log(typeof (one.handle ?? one.default.handle)));`;
    const printed = await new Promise<string>((done, fail) => {
      void import('node:child_process').then(({ execFile }) =>
        execFile(
          process.execPath,
          ['-e', script],
          { cwd: project, env: { ...process.env, NODE_OPTIONS: '' } },
          (error, out, err) => (error ? fail(new Error(err, { cause: error })) : done(out)),
        ),
      );
    });
    expect(printed.trim().split('\n').slice(-2)).toEqual(['canceled', 'function']);
    expect(requests).toEqual([
      'POST /v1/orders',
      'GET /v1/orders?external_reference_id=cart-1002&limit=100',
      'GET /v1/orders/ord_1',
      'POST /v1/orders/ord_1/capture',
      'POST /v1/orders/ord_1/cancel',
    ]);
  });
});

test('the client and the verifier need only what edge runtimes have', async () => {
  const { crypto, fetch, Request, Response, Headers, URL, URLSearchParams, FormData } = globalThis;
  const web = { crypto, fetch, Request, Response, Headers, URL, URLSearchParams, FormData, AbortController };
  const context = createContext({ ...web, setTimeout, clearTimeout, TextEncoder, TextDecoder, atob, Uint8Array });
  const load = (path: string) => {
    const code = readFileSync(installed(path), 'utf8');
    return runInContext(
      `((module) => { ((exports) => { ${code}\n })(module.exports); return module.exports; })({ exports: {} })`,
      context,
    ) as Record<string, (...args: unknown[]) => unknown>;
  };
  const { createClient } = load('dist/cjs/index.js');
  const answer = async () => new Response('{"id":"mer_1"}', { status: 200 });
  const client = createClient!({ baseUrl: 'https://pay.example.com', fetch: answer }) as {
    getMerchant: () => Promise<unknown>;
  };
  expect(JSON.stringify(await client.getMerchant())).toBe('{"id":"mer_1"}');
  // From standardwebhooks.com. Its body is no event of the gateway, which is checked after the signature.
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const { verify } = load('dist/cjs/webhooks/index.js');
  expect(() =>
    verify!('{"test": 2432232314}', headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { toleranceSeconds: Infinity }),
  ).toThrow('the body is not a webhook event');
});
