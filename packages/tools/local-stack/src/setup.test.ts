import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forbiddenSkips } from '../../../../scripts/jest-runs.mjs';
import { CHECKOUT } from './config.ts';

const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  packageManager: string;
  devDependencies: Record<string, string>;
};

test('scripts and the build find the pnpm that the checkout names, without a global one', () =>
  expect(`pnpm@${manifest.devDependencies.pnpm}`).toBe(manifest.packageManager));

test('the setup takes pnpm from the cache of npx before it asks the registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-setup-'));
  try {
    const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'scripts/setup.mjs'];
    for (const file of files) cpSync(join(CHECKOUT, file), join(folder, file));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/npx'), '#!/bin/sh\necho "$@" >&2\nexit 1\n', { mode: 0o755 });
    const program = `await (await import(${JSON.stringify(join(folder, 'scripts/setup.mjs'))})).setUp()`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`--prefer-offline --package=${manifest.packageManager} -- pnpm install`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  [undefined, []],
  ['anvil btcd', ['tests of Bitcoin deposits are skipped: btcd is missing; install it']],
  ['bitcoind', []],
])('with REQUIRED_PROGRAMS="%s", a run fails by the tests that skip for want of one: %j', (required, expected) => {
  const reasons = [
    'tests of Bitcoin deposits are skipped: btcd is missing; install it',
    'tests of alarms are skipped: promtool is missing',
  ];
  expect(forbiddenSkips(`${reasons.join('\n')}\n`, required)).toEqual(expected);
});
