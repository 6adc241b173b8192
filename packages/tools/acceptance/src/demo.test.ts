import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const DEMO = fileURLToPath(new URL('../dist/demo.js', import.meta.url));

test('the demo passes all its checks', async () => {
  const env = { ...process.env, DATA_DIR: process.env.ACCEPTANCE_DATA_DIR };
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO], { env, timeout: 60_000 }).catch(
    (failed: { stdout: string }) => failed,
  );
  expect(stdout.split('\n').filter((line) => line.includes('FAIL'))).toEqual([]);
  expect(stdout).toMatch(/\n\d+ checks passed, 0 failed\n$/);
});

test('the demo on Bitcoin says how to get a node where there is none', async () => {
  const env = { ...process.env, BTCD_BIN: '/missing', BITCOIND_BIN: '/missing' };
  const failure = promisify(execFile)(process.execPath, [DEMO, '--bitcoin'], { env });
  await expect(failure).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('install-btcd.mjs') });
});
