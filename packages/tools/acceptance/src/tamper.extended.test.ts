import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Order } from '@cpg/contracts';
import { newSigningKey, noteSigner } from '@cpg/transparency-log';
import pg from 'pg';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { entriesIn } from './harness/order-stream.ts';
import { type Attempt, type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { serviceAdmin } from './harness/services.ts';
import { purchase } from './harness/shoppers.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/until.ts';

const TAMPER = fileURLToPath(new URL('../../tamper/dist/main.js', import.meta.url));
const VERIFIER = fileURLToPath(new URL('../../../audit-verifier/dist/main.js', import.meta.url));
const SERVICES = ['gateway', 'orders', 'payments', 'webhook-dispatcher-1'];
const folder = mkdtempSync(join(tmpdir(), 'tamper-'));
const key = newSigningKey('pay.example');
const publicKey = noteSigner(key).verifierKey;

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let events: pg.Client;
let webhookId: string;
let secret: string;
let orders: Record<'paid' | 'other' | 'refunded' | 'deleted' | 'canceled' | 'expired', Order>;
/** What an auditor kept. */
let kept: { checkpoint: string; export: string };

/** Orders in every state, a checkpoint over them, an order after it, and an export. Then the services stop running. */
beforeAll(async () => {
  stack = await startStack({ env: { AUDIT_LOG_KEY: key } });
  [shop, receiver] = [await openShop(stack), await startReceiver()];
  ({ id: webhookId, secret } = await shop.api.createWebhook({ url: receiver.urlOf('/'), events: ['order:paid'] }));
  await shop.api.updateWebhook(webhookId, { is_enabled: true });
  const buy = async () => (await purchase(shop.api)).order;
  const create = () => shop.api.createOrder(orderBody());
  orders = {
    paid: await buy(),
    other: await buy(),
    refunded: await buy(),
    deleted: await buy(),
    canceled: await create(),
    expired: await create(),
  };
  await receiver.attempts('/', 4);
  await post(`/v1/payments/${orders.refunded.payments[0]!.id}/refund`, { what: 'all' });
  await shop.api.cancel(orders.canceled.id);
  await post(`/debug/orders/${orders.expired.id}/advance-time`, { minutes: 61 });
  // What is deleted before it was logged has no entries.
  await untilLogged();
  await shop.api.deleteOrder(orders.deleted.id);
  const checkpoint = await untilLogged();
  await buy();
  await untilLogged();
  signalServices('SIGSTOP');
  kept = { checkpoint, export: await exportAll() };
  events = new pg.Client({ connectionString: stack.databaseUrl.replace(/\/app$/, '/eventstore') });
  await events.connect();
  await events.query('create table kept as table eventstore.event');
}, 600_000);
afterAll(async () => {
  await events?.end();
  if (stack) signalServices('SIGCONT');
  await shop?.api.close();
  await receiver?.close();
  await stack?.stop();
  rmSync(folder, { recursive: true });
});

const post = async (path: string, body: object): Promise<void> => {
  const { status, text } = await shop.api.send('POST', path, { body });
  if (status >= 300) throw new Error(`${path}: ${text}`);
};
const signalServices = (signal: NodeJS.Signals) => {
  for (const name of SERVICES) process.kill(stack.pidOf(name)!, signal);
};

const exportAll = async (): Promise<string> => {
  const outcomes = await Promise.all(
    (['orders', 'payments'] as const).map((service) => serviceAdmin(stack, service, 'audit export').outcome()),
  );
  return outcomes.map(({ output }) => output).join('');
};

const run = (program: string, args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

const inFile = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

/** What the verifier says about an export. `earlier`: another export, to compare it with. */
const verify = (exported: string, checkpoint: string, earlier?: string) => {
  const args = [inFile('export', exported), '--checkpoint', inFile('checkpoint', checkpoint), '--key', publicKey];
  return run(VERIFIER, earlier === undefined ? args : [...args, '--earlier', inFile('earlier', earlier)]);
};

/** Waits until the log has every event. Resolves with its checkpoint. */
const untilLogged = async (): Promise<string> => {
  for (;;) {
    const response = await fetch(`${stack.baseUrl}/audit/checkpoint`);
    const checkpoint = response.ok ? await response.text() : null;
    if (checkpoint !== null && hasAll(verify(await exportAll(), checkpoint).output)) return checkpoint;
    await sleep(1_000);
  }
};
/** Whether the checkpoint has each entry of the log, and the log each event. */
const hasAll = (output: string): boolean =>
  /: (\d+) events; the log of the export: \1\n/.test(output) && output.includes(' 0 are newer than its log');

const sizeOf = (checkpoint: string) => Number(checkpoint.split('\n')[1]);

const tamper = (...args: string[]) =>
  run(TAMPER, [...args, '--database', stack.databaseUrl, '--order', orders.paid.id]);

/** What the findings name: streams, and numbers of events. */
const namesIn = (): Record<string, string | number> => {
  const entries = entriesIn(kept.export);
  const endOf = (stream: string) =>
    Math.max(...entries.filter((each) => each.stream === stream).map(({ sequence }) => sequence));
  const order = `order-${orders.paid.id}`;
  const payment = `payment-${orders.paid.payments[0]!.id}`;
  const log = entries.filter(({ stream }) => stream === 'transparency-log');
  const isPayment = (entry: string) => entry.startsWith(`0@${payment} `);
  return {
    order,
    payment,
    deletedOrder: `order-${orders.deleted.id}`,
    merchant: `merchant-${shop.id}`,
    orderEnd: endOf(order),
    orderEndBefore: endOf(order) - 1,
    paymentEnd: endOf(payment),
    firstForged: log.find(({ data }) => (data.entries as string[]).some(isPayment))!.sequence,
    nextCheckpoint: log.find(({ data }) => Number(data.size) > sizeOf(kept.checkpoint))!.sequence,
  };
};

/** What the verifier says about each way by the kept checkpoint alone, and with the kept export where that says more. A
 *  name in braces stands for its value. */
const FINDINGS: readonly [way: string, byCheckpoint: readonly string[], withExport?: readonly string[]][] = [
  ['smaller-payment', ['0@{payment} (line ', ': its hash does not match its content']],
  ['smaller-payment-rehashed', ['0@{payment} was changed: entry ', '@{order} was changed: entry ']],
  ['cut-order', ['{orderEnd}@{order} was removed: entry ']],
  ['cut-payment', ['{paymentEnd}@{payment} was removed: entry ']],
  ['removed-stream', ['0@{payment} was removed: entry ', '{paymentEnd}@{payment} was removed: entry ']],
  ['tombstones', ['0@{order} was removed: entry ', '0@{payment} was removed: entry ']],
  ['tombstones-with-record', ['0@deletion-', ' is not in the log, and says that {order}, {payment} were deleted']],
  ['removed-deletion-record', ['0@{deletedOrder} was removed: entry ']],
  ['forged-refund', ['{paymentEnd}@{payment} was changed: entry ']],
  ['cut-log', ['the end of the log was cut'], ['{paymentEnd}@{payment} was removed: the earlier export has it']],
  ['other-actor', ['0@{order} (line ', ': its hash does not match its content']],
  ['other-request', ['0@{order} (line ', ': its hash does not match its content']],
  ['other-recorded-time', [], ['0@{payment} was recorded at ']],
  ['swapped-events', ['{orderEndBefore}@{order} was changed: entry ', '{orderEnd}@{order} was changed: entry ']],
  ['moved-event', ['{paymentEnd}@{payment} was removed: entry ']],
  ['inserted-event', ['1@{order} was changed: entry ', ': its previous_hash is not the hash of the event before it']],
  ['changed-settings', ['0@{merchant} was changed: entry ']],
  [
    'rewritten-log',
    ['it was rewritten; the first checkpoint that the key has not signed is {firstForged}@transparency-log'],
    ['0@{payment} has another hash in the earlier export'],
  ],
  ['removed-checkpoints', [], ['{nextCheckpoint}@transparency-log was removed: the earlier export has it']],
  ['changed-webhook-body', [], []],
];

test('the table of this test has every way of the tool', () => {
  const ways = run(TAMPER, ['--list']).output.trim().split('\n');
  expect(ways.map((line) => line.split(' ')[0])).toEqual(FINDINGS.map(([way]) => way));
});

test('an untouched export has no finding', async () => {
  expect(verify(await exportAll(), kept.checkpoint, kept.export)).toMatchObject({ status: 0 });
});

const inEventStore = FINDINGS.filter(([way]) => way !== 'changed-webhook-body');

test.each(inEventStore.map(([way, byCheckpoint, withExport = byCheckpoint]) => ({ way, byCheckpoint, withExport })))(
  '$way is found, with where it was done',
  async ({ way, byCheckpoint, withExport }) => {
    const names = namesIn();
    const named = (texts: readonly string[]) =>
      texts.map((text) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(names[name])));
    const keptSize = String(sizeOf(kept.checkpoint));
    try {
      expect(tamper(way, '--yes-destroy-this-copy', '--kept-size', keptSize)).toMatchObject({ status: 0 });
      const exported = await exportAll();
      const alone = verify(exported, kept.checkpoint);
      for (const text of named(byCheckpoint)) expect(alone.output).toContain(text);
      expect(alone.status).toBe(byCheckpoint.length === 0 ? 0 : 1);
      const compared = verify(exported, kept.checkpoint, kept.export);
      for (const text of named(withExport)) expect(compared.output).toContain(text);
      expect(compared.status).toBe(1);
    } finally {
      await events.query('truncate eventstore.event');
      await events.query('insert into eventstore.event table kept');
    }
  },
);

test('the tool refuses another machine, and to run without being told twice', () => {
  const elsewhere = ['cut-log', '--yes-destroy-this-copy', '--database'];
  for (const url of ['postgres://pay.example/app', 'postgres://127.0.0.1/app?host=pay.example'])
    expect(run(TAMPER, [...elsewhere, url])).toMatchObject({
      status: 64,
      output: expect.stringContaining('pay.example is not this machine'),
    });
  expect(tamper('cut-log')).toMatchObject({ status: 64, output: expect.stringContaining('--yes-destroy-this-copy') });
  expect(tamper('cut', '--yes-destroy-this-copy')).toMatchObject({ status: 64 });
});

test('a changed body of a webhook is found only by comparing it with the event that its x-event-hash names', async () => {
  expect(tamper('changed-webhook-body', '--yes-destroy-this-copy')).toMatchObject({ status: 0 });
  expect(verify(await exportAll(), kept.checkpoint, kept.export)).toMatchObject({ status: 0 });
  signalServices('SIGCONT');
  const isAboutOrder = ({ rawBody }: Attempt) => rawBody.includes(orders.paid.id);
  const [first] = receiver.attemptsOn('/').filter(isAboutOrder);
  await shop.api.redeliver(webhookId, first!.headers['x-delivery-id']!);
  const again = await until('the redelivery', () => receiver.attemptsOn('/').filter(isAboutOrder)[1]);
  // The signature is of what was sent, and the hash is of the event: both are right.
  expect(verifyDelivery(again, secret)).toMatchObject({ data: { total_amount: '910.000000' } });
  expect(again.headers['x-event-hash']).toBe(first!.headers['x-event-hash']);
  const verified = await Promise.all(
    (['orders', 'payments'] as const).map((service) => serviceAdmin(stack, service, 'audit verify').outcome()),
  );
  expect(verified).toMatchObject([{ code: 0 }, { code: 0 }]);
  const { items } = await shop.api.history(orders.paid.id);
  expect(items).toContainEqual(expect.objectContaining({ type: 'OrderPaid', hash: first!.headers['x-event-hash'] }));
});
