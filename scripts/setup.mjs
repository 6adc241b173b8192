import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that was checked out. */
export const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));

const NODE_AT_LEAST = [20, 19];
/** The checkout's package.json. */
export const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));

/** Brings a checkout to where it runs: Node.js is new enough, the dependencies are those of the lockfile, everything is built. Ends this
 *  process with a sentence where that cannot be. Needs nothing but Node.js and npm, asks nothing, installs nothing globally. */
export const setUp = async () => {
  process.chdir(CHECKOUT);
  requireNode();
  await install();
  await build();
};

/** Runs a command to its end and resolves with its exit code. A signal is passed on, and ends this process after the command. */
export const run = (command, args, { env = process.env, stdout = 'inherit' } = {}) =>
  new Promise((done) => {
    const child = spawn(command, args, { env, stdio: ['ignore', stdout, 'inherit'] });
    let ending = false;
    const passOn = (signal) => {
      ending = true;
      // Ctrl-C has reached it already: it is in the same group.
      if (signal !== 'SIGINT') child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, passOn);
    child.once('error', (error) => stop(`${command} could not be run: ${error.message}`));
    child.once('exit', (code) => {
      for (const signal of signals) process.off(signal, passOn);
      if (ending) process.exit(130);
      done(code ?? 1);
    });
  });

const requireNode = () => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor < NODE_AT_LEAST[1])) {
    stop(
      `this needs Node.js ${NODE_AT_LEAST.join('.')} or later, and this is ${process.versions.node}: see https://nodejs.org`,
    );
  }
  if (process.platform === 'win32') stop('this runs on Linux and macOS; on Windows, use WSL or "docker compose up"');
};

const install = async () => {
  const wanted = installation();
  if (isStamped('.installed', wanted)) return;
  say(`installing the dependencies with ${manifest.packageManager}`);
  // CI: nobody is there to answer, and what an older version left in node_modules is replaced.
  const env = { ...process.env, CI: 'true' };
  const args = ['pnpm', 'install', '--frozen-lockfile', '--reporter=append-only'];
  if ((await runWithPnpm(args, { env })) !== 0) stop('the dependencies could not be installed: see above');
  stamp('.installed', wanted);
};

const build = async () => {
  if (isStamped('.built', sources())) return;
  say('building');
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' };
  const args = [join('node_modules', '.bin', 'turbo'), 'run', 'build', '--output-logs=errors-only'];
  if ((await runWithPnpm(args, { env })) !== 0) stop('the build failed: see above');
  stamp('.built', sources());
};

/** Runs a command that finds the pinned pnpm on its path: npx keeps it beside, nothing is installed globally. */
const runWithPnpm = (args, { env }) =>
  run('npx', ['--yes', `--package=${manifest.packageManager}`, '--', ...args], { env, stdout: process.stderr });

/** What an installation is made of: another one is needed when any of it changes. */
const installation = () => {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${manifest.packageManager}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(file));
  return hash.digest('hex');
};

/** What a build is made of, by size and time: turbo looks closer when any of it changes, and this saves asking it. */
const sources = () => {
  const hash = createHash('sha256').update(installation());
  for (const folder of ['packages', 'services'].flatMap((group) =>
    readdirSync(group).map((name) => join(group, name)),
  )) {
    if (!existsSync(join(folder, 'package.json'))) continue;
    hash.update(`${folder} ${existsSync(join(folder, 'dist'))}`);
    const own = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const below = existsSync(join(folder, 'src')) ? readdirSync(join(folder, 'src'), { recursive: true }) : [];
    for (const name of [...own, ...below.map((path) => join('src', path))].sort()) {
      const { size, mtimeMs } = statSync(join(folder, name));
      hash.update(`${name} ${size} ${mtimeMs}`);
    }
  }
  return hash.digest('hex');
};

const isStamped = (name, value) => {
  const file = join('node_modules', name);
  return existsSync(file) && readFileSync(file, 'utf8') === value;
};

const stamp = (name, value) => writeFileSync(join('node_modules', name), value);

const say = (sentence) => process.stderr.write(`${sentence}\n`);

const stop = (sentence) => {
  say(sentence);
  process.exit(1);
};
