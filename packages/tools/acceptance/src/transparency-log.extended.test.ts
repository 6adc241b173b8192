import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onPath, reportSkipped } from '@cpg/local-chain';
import { checkpointText, newSigningKey, noteSigner } from '@cpg/transparency-log';
import pg from 'pg';
import { openShop, type Shop } from './harness/merchants.ts';
import { serviceAdmin } from './harness/services.ts';
import { purchase } from './harness/shoppers.ts';
import { type Stack, startStack } from './harness/stack.ts';

const GO_VERIFIER = fileURLToPath(new URL('../log-verifier', import.meta.url));
const VERIFIER = fileURLToPath(new URL('../../../audit-verifier/dist/main.js', import.meta.url));
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

/** Exports all events, and verifies the export against a checkpoint. */
const verifyExport = async (checkpoint: string) => {
  const exports = [];
  for (const service of ['orders', 'payments'] as const)
    exports.push((await serviceAdmin(stack, service, 'audit export').outcome()).output);
  const args = [inFile('export', exports.join('')), '--checkpoint', inFile('kept', checkpoint)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, ...args, '--key', signer.verifierKey], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
};

/** Waits until the log has every event, and verifies them. */
const untilLogged = async () => {
  for (;;) {
    const verified = await verifyExport(await readCheckpoint());
    if (verified.output.includes(' 0 are newer than its log')) return verified;
    await sleep(2_000);
  }
};

test('a stranger finds in an export what was changed in the event store since a checkpoint', async () => {
  const { order } = await purchase(shop.api);
  const payment = `payment-${order.payments[0]!.id}`;
  const paid = (await purchase(shop.api)).order;
  // What is deleted before it was logged has no entries.
  await untilLogged();
  await shop.api.deleteOrder(paid.id);
  const verified = await untilLogged();
  expect(verified).toMatchObject({ status: 0, output: expect.stringContaining('nothing in it was changed') });
  expect(verified.output).toMatch(/ [1-9]\d* more were deleted with their orders/);
  const kept = await readCheckpoint();
  const events = new pg.Client({ connectionString: stack.databaseUrl.replace(/\/app$/, '/eventstore') });
  await events.connect();
  /** What the verifier says after a statement, which is undone afterwards. */
  const outputAfter = async (stream: string, statement: string): Promise<string> => {
    await events.query(`create table saved as select * from eventstore.event where stream = '${stream}'`);
    try {
      expect((await events.query(statement, [stream])).rowCount).toBeGreaterThan(0);
      return (await verifyExport(kept)).output;
    } finally {
      await events.query(`delete from eventstore.event where stream = '${stream}'`);
      await events.query('insert into eventstore.event overriding system value select * from saved');
      await events.query('drop table saved');
    }
  };
  const remove = 'delete from eventstore.event where stream = $1';
  const last = '(select max(revision) from eventstore.event where stream = $1)';
  const replace = (column: string, from: string, to: string) =>
    `update eventstore.event set ${column} = convert_to(replace(convert_from(${column}, 'utf8'), '${from}', '${to}'), 'utf8')
      where stream = $1 and revision = 0`;
  try {
    expect(await outputAfter(payment, replace('data', '"amountMinor":"10', '"amountMinor":"1'))).toMatch(
      `0@${payment} (line `,
    );
    expect(await outputAfter(payment, replace('metadata', '"actor":"', '"actor":"user:'))).toMatch(
      /its hash does not match/,
    );
    expect(await outputAfter(payment, `${remove} and revision = ${last}`)).toMatch(`@${payment} was removed`);
    expect(await outputAfter(payment, remove)).toMatch(`0@${payment} was removed`);
    expect(await outputAfter(`order-${order.id}`, remove)).toMatch(`0@order-${order.id} was removed`);
    expect(await outputAfter(`deletion-${paid.id}`, remove)).toMatch(`0@order-${paid.id} was removed`);
    expect(await outputAfter('transparency-log', `${remove} and revision = ${last}`)).toMatch(
      /the end of the log was cut/,
    );
  } finally {
    await events.end();
  }
  expect(await verifyExport(kept)).toMatchObject({ status: 0 });
});
