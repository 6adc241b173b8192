import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const found = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name]) => name!));
const missing = (names: Set<string>, from: Set<string>) => [...names].filter((name) => !from.has(name)).sort();

const compose = read('docker-compose.yml');
const dockerfile = read('deploy/Dockerfile');
const SERVICES = readdirSync(join(ROOT, 'services'));
const VARIABLE = /^ +([A-Z][A-Z0-9_]+): /gm;

/** Names of all variables in the configurations of the services. */
const readByServices = new Set(
  ['packages/platform/src/config/config.ts', ...SERVICES.map((name) => `services/${name}/src/config.ts`)].flatMap(
    (path) => [...found(read(path), VARIABLE)],
  ),
);
const explained = found(read('.env.example'), /^(?:# )?([A-Z][A-Z0-9_]+)=$/gm);
const takenFromEnv = found(compose, /\$\{([A-Z0-9_]+)/g);

test('.env.example describes exactly the variables that the services and Compose read', () => {
  const readBySomeone = new Set([...readByServices, ...takenFromEnv]);
  expect(missing(readBySomeone, explained)).toEqual([]);
  expect(missing(explained, readBySomeone)).toEqual([]);
});

test('Compose passes every variable to the services except HOST and PORT, which the images set', () => {
  expect(missing(readByServices, found(compose, VARIABLE))).toEqual(['HOST', 'PORT']);
  expect(dockerfile).toMatch(/HOST=0\.0\.0\.0/);
  expect(dockerfile.match(/^ENV PORT=\d+$/gm)).toHaveLength(SERVICES.length);
});

const TOKENS = [...readByServices].filter((name) => name.endsWith('_TOKEN'));

test.each(['ENVIRONMENT', ...TOKENS, 'API_KEY_PEPPER', 'WEBHOOK_ENCRYPTION_KEY', 'POSTGRES_PASSWORD'])(
  '%s has no default',
  (name) => {
    const uses = [...compose.matchAll(new RegExp(`\\$\\{${name}(.{2})`, 'g'))].map(([, operator]) => operator);
    expect(new Set(uses)).toEqual(new Set([':?']));
  },
);

/** The variables of each service of Compose, without those of all services. */
const variablesOf = (name: string) =>
  found(new RegExp(`^  ${name}:\n(?: {4}.*\n|\n)+`, 'm').exec(compose)![0], VARIABLE);

test('Compose gives a token to its caller and to the service that it is for, and to no other', () => {
  const pairs = TOKENS.filter((token) => token !== 'METRICS_TOKEN').map((token) => [
    token,
    ...token.split(/_TO_|_TOKEN/),
  ]);
  expect(pairs).toHaveLength(9);
  for (const process of [...SERVICES, 'admin']) {
    const name = process.toUpperCase().replaceAll('-', '_');
    const own = pairs.filter(([, ...pair]) => pair.includes(name)).map(([token]) => token);
    expect([...variablesOf(process)].filter((variable) => TOKENS.includes(variable)).sort()).toEqual(own.sort());
  }
});

test('every service has an image', () => {
  expect([...found(compose, /target: ([\w-]+)/g)].sort()).toEqual(SERVICES);
  expect(missing(new Set(SERVICES), found(dockerfile, /^FROM service AS ([\w-]+)$/gm))).toEqual([]);
});

test('an image of this project has a name that no registry serves, and is never pulled', () => {
  expect(/^x-service: &service\n(?: {2}.*\n)*/m.exec(compose)![0]).toMatch(/^ {2}pull_policy: never$/m);
  const parts = compose.split(/^services:$/m)[1]!.split(/^(?: {2}(?=[\w-]+:$)|\w)/m);
  const pulled = parts.filter((part) => /^ {4}image: /m.test(part) && !/^ {4}<<: \*service$/m.test(part));
  expect(pulled.map((part) => /^ {4}image: \$\{\w+:-([^:]+):/m.exec(part)?.[1]).sort()).toEqual([
    'apache/kafka',
    'eventstore/eventstore',
    'postgres',
  ]);
  const ours = parts.filter((part) => /^ {4}<<: \*service$/m.test(part));
  expect(ours).toHaveLength(SERVICES.length + 1);
  for (const part of ours) {
    expect(part).toMatch(/^ {4}image: localhost\/crypto-payment-gateway\/[\w-]+$/m);
    expect(part).not.toMatch(/pull_policy/);
  }
});

test('only the gateway publishes a port, and dispatchers can be scaled', () => {
  expect(compose.match(/^ {4}ports:/gm)).toHaveLength(1);
  expect(compose).not.toMatch(/container_name/);
});

test('documents name the Node.js version of the images', () => {
  const [, major] = /^ARG NODE_IMAGE=node:(\d+)-/m.exec(dockerfile)!;
  expect(read('README.md')).toContain(`You need Node.js with npm: ${major},`);
  expect(read('CONTRIBUTING.md')).toContain(`You need Node.js with npm: ${major},`);
  expect(read('deploy/README.md')).toContain(`They have Node.js ${major}`);
  expect(read('docs/operators/run.md')).toContain(`use ${major}, as the images do`);
});
