import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wallClockMs } from '@cpg/platform';
import { findAnvil, mined, rpcClient, sendFrom } from '@cpg/local-chain';
import { freePort } from '@cpg/ports';
import { chainProgram } from './chain-program.ts';

// Another of anvil's accounts than the one whose nonces place the test tokens.
const FUNDED = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

test('a payment that comes as soon as the chain answers is in a block of today', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'cpg-chain-'));
  const port = await freePort();
  const call = rpcClient(`http://127.0.0.1:${port}`);
  let child: ChildProcess | undefined;
  let paid: Promise<string> | undefined;
  const payAtOnce = async (): Promise<string> => {
    for (;;) {
      try {
        return await sendFrom(call, FUNDED, { to: FUNDED, value: '0x1' });
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  try {
    const program = chainProgram({ file: findAnvil()!, port, dataDir, onLine: () => {}, warn: () => {} });
    await program.launch((spawned) => {
      child = spawned;
      paid = payAtOnce();
    });
    const { blockNumber } = await mined(call, await paid!);
    const { timestamp } = await call<{ timestamp: string }>('eth_getBlockByNumber', blockNumber, false);
    expect(wallClockMs() / 1_000 - Number(timestamp)).toBeLessThan(60);
  } finally {
    child?.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
  }
});
