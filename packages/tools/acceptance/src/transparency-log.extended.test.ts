import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onPath, reportSkipped } from '@cpg/local-chain';
import { checkpointText, newSigningKey, noteSigner } from '@cpg/transparency-log';
import { openShop, type Shop } from './harness/merchants.ts';
import { purchase } from './harness/shoppers.ts';
import { type Stack, startStack } from './harness/stack.ts';

const GO_VERIFIER = fileURLToPath(new URL('../log-verifier', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'transparency-log-'));
const key = newSigningKey('pay.example');
const signer = noteSigner(key);
const hasGo = onPath('go') !== null;
if (!hasGo) reportSkipped('verifying the transparency log with Go is skipped: go is missing');

let stack: Stack;
let shop: Shop;
beforeAll(async () => {
  stack = await startStack({ env: { AUDIT_LOG_KEY: key } });
  shop = await openShop(stack);
});
afterAll(async () => {
  await shop?.api.close();
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

const readCheckpoint = async (): Promise<string> => {
  for (;;) {
    const response = await fetch(`${stack.baseUrl}/audit/checkpoint`);
    if (response.ok) return response.text();
    await sleep(200);
  }
};
const sizeOf = (checkpoint: string) => Number(checkpoint.split('\n')[1]);
const inFile = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

/** Verifies with Go that the current log contains an earlier one and entries. */
const verifyWithGo = (entries: readonly string[], earlier: string, publicKey = signer.verifierKey) => {
  const input = entries.map((entry) => `${entry}\n`).join('');
  const args = [stack.baseUrl, publicKey, inFile('earlier', earlier)];
  return spawnSync(join(folder, 'verify'), args, { input, encoding: 'utf8' });
};

(hasGo ? test : test.skip)(
  "Go's implementation finds each event in the log, and an earlier log in a later one",
  async () => {
    execFileSync('go', ['build', '-o', join(folder, 'verify'), '.'], { cwd: GO_VERIFIER, stdio: 'pipe' });
    const earlier = await readCheckpoint();
    const { order } = await purchase(shop.api);
    const { items } = await shop.api.history(order.id);
    const entries = items.map(({ sequence, stream, hash }) => `${sequence}@${stream} ${hash}`);
    let verified = verifyWithGo(entries, earlier);
    while (verified.stderr.includes('is not in the log')) {
      await sleep(1_000);
      verified = verifyWithGo(entries, earlier);
    }
    expect(verified.stderr).toBe('');
    const [before, after] = verified.stdout.split(' ').map(Number);
    expect(before).toBe(sizeOf(earlier));
    expect(after).toBeGreaterThanOrEqual(before! + entries.length);

    expect(verifyWithGo([entries[0]!.replace(/^0/, '1')], earlier).stderr).toMatch(/is not in the log/);
    expect(verifyWithGo([], earlier, noteSigner(newSigningKey('pay.example')).verifierKey).status).toBe(1);
    const rewritten = checkpointText({ origin: signer.name, size: sizeOf(earlier), root: randomBytes(32) });
    expect(verifyWithGo([], signer.sign(rewritten)).stderr).toMatch(/proof/);
  },
);
