import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root folder of the checkout. */
export const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));

const MIN_NODE_VERSION = /** @type {const} */ ([20, 19]);
/** The checkout's package.json. */
export const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));

/** Prepares a checkout: checks the version of Node.js, installs the dependencies and builds, each only if needed.
 *  Exits with a message on failure. It needs only Node.js and npm, is not interactive, and installs nothing
 *  globally. */
export const setUp = async () => {
  process.chdir(CHECKOUT);
  requireNode();
  await install();
  await build();
};

/** Imports a module of the build, by its path in the checkout.
 *  @type {(path: string) => Promise<any>} */
export const importBuilt = (path) => import(pathToFileURL(join(CHECKOUT, path)).href);

/** Runs a command and resolves to its exit code. Forwards signals to it; after a signal, this process exits when the
 *  command ends.
 *  @param {string} command
 *  @param {readonly string[]} args
 *  @param {{ env?: NodeJS.ProcessEnv, stdout?: 'inherit' | NodeJS.WriteStream }} [options]
 *  @returns {Promise<number>} */
export const run = (command, args, { env = process.env, stdout = 'inherit' } = {}) =>
  new Promise((done) => {
    const child = spawn(command, args, { env, stdio: ['ignore', stdout, 'inherit'] });
    let signalled = false;
    const forward = (/** @type {NodeJS.Signals} */ signal) => {
      signalled = true;
      // Ctrl-C already reaches the command, which is in the same process group.
      if (signal !== 'SIGINT') child.kill(signal);
    };
    const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
    for (const signal of signals) process.on(signal, forward);
    child.once('error', (error) => fail(`cannot run ${command}: ${error.message}`));
    child.once('exit', (code) => {
      for (const signal of signals) process.off(signal, forward);
      if (signalled) process.exit(130);
      done(code ?? 1);
    });
  });

const requireNode = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor < MIN_NODE_VERSION[1])) {
    fail(
      `Node.js ${MIN_NODE_VERSION.join('.')} or later is required, but this is ${process.versions.node}: see https://nodejs.org`,
    );
  }
  if (process.platform === 'win32')
    fail('only Linux and macOS are supported: on Windows, use WSL or "docker compose up"');
};

const install = async () => {
  const hash = installationHash();
  if (isStamped('.installed', hash)) return;
  print(`installing dependencies with ${manifest.packageManager}`);
  // With CI=true, pnpm asks no questions and replaces a node_modules folder of another version.
  const env = { ...process.env, CI: 'true' };
  // npx keeps pnpm in its cache. Without --prefer-offline, it waits for the registry, offline more than a minute.
  const npx = ['--yes', '--prefer-offline', `--package=${manifest.packageManager}`, '--'];
  const args = [...npx, 'pnpm', 'install', '--frozen-lockfile', '--reporter=append-only'];
  if ((await run('npx', args, { env, stdout: process.stderr })) !== 0)
    fail('the dependencies could not be installed: see the messages above');
  stamp('.installed', hash);
};

const build = async () => {
  if (isStamped('.built', sourcesHash())) return;
  print('building');
  const bin = join(CHECKOUT, 'node_modules', '.bin');
  const env = {
    ...process.env,
    // turbo runs the scripts of packages with the pnpm that it finds here.
    PATH: [bin, process.env.PATH].join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
  const args = ['run', 'build', '--output-logs=errors-only'];
  if ((await run(join(bin, 'turbo'), args, { env, stdout: process.stderr })) !== 0)
    fail('the build failed: see the messages above');
  stamp('.built', sourcesHash());
};

/** Hash of everything that an installation depends on. */
const installationHash = () => {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${manifest.packageManager}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(file));
  return hash.digest('hex');
};

/** Hash of the sizes and times of all source files. Without a change, turbo does not have to run. */
const sourcesHash = () => {
  const hash = createHash('sha256').update(installationHash());
  for (const folder of ['packages', 'packages/engines', 'packages/shops', 'packages/tools', 'services'].flatMap(
    (group) => readdirSync(group).map((name) => join(group, name)),
  )) {
    if (!existsSync(join(folder, 'package.json'))) continue;
    hash.update(`${folder} ${existsSync(join(folder, 'dist'))}`);
    const configFiles = readdirSync(folder).filter((name) => /\.(json|html|ts)$/.test(name));
    const sourceFiles = existsSync(join(folder, 'src'))
      ? readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
      : [];
    for (const name of [...configFiles, ...sourceFiles.map((path) => join('src', path))].sort()) {
      const { size, mtimeMs } = statSync(join(folder, name));
      hash.update(`${name} ${size} ${mtimeMs}`);
    }
  }
  return hash.digest('hex');
};

/** @type {(name: string, value: string) => boolean} */
const isStamped = (name, value) => {
  const file = join('node_modules', name);
  return existsSync(file) && readFileSync(file, 'utf8') === value;
};

/** @type {(name: string, value: string) => void} */
const stamp = (name, value) => writeFileSync(join('node_modules', name), value);

/** @type {(message: string) => void} */
const print = (message) => void process.stderr.write(`${message}\n`);

/** @type {(message: string) => never} */
const fail = (message) => {
  print(message);
  process.exit(1);
};
