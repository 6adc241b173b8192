import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onEachBitcoinNode } from './chains/bitcoin-stack.ts';

const DEMO = fileURLToPath(new URL('../dist/demo.js', import.meta.url));
/** The variable that names the other node: the demo takes the one that is left. */
const OTHER_NODE = { btcd: 'BITCOIND_BIN', bitcoind: 'BTCD_BIN' };

onEachBitcoinNode('the demo on Bitcoin', (name) => {
  test('passes all its checks', async () => {
    const env = { ...process.env, [OTHER_NODE[name]]: '/missing' };
    const { stdout } = await promisify(execFile)(process.execPath, [DEMO, '--bitcoin'], { env }).catch(
      (failed: { stdout: string }) => failed,
    );
    expect(stdout).toContain(`on ${name}`);
    expect(stdout).toMatch(/\n4 checks passed, 0 failed\n$/);
  });
});
