import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/platform';
import type { OutgoingMessage, Publisher } from '@cpg/platform/kafka';
import { jsonEvent } from '@eventstore/db-client';
import { startTallies } from '../testing/jest-tallies.ts';
import { type RelayOptions, startRelay } from './relay.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let tallies: Awaited<ReturnType<typeof startTallies>>;
let serial = 0;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.checkpoints, tallies.parked_streams'));

/** As kafkajs has errors of the broker. */
const refusal = () =>
  Object.assign(new Error('too large'), { name: 'KafkaJSProtocolError', type: 'MESSAGE_TOO_LARGE' });
const fencing = () => Object.assign(new Error('fenced'), { name: 'KafkaJSProtocolError', type: 'PRODUCER_FENCED' });

/** A relay of streams with this prefix, and all that it asks of its publishers. `fault` may refuse a call. */
const start = (
  prefix: string,
  fault: (call: string) => Error | null | Promise<null> = () => null,
  changes: Partial<RelayOptions> = {},
) => {
  const { client, databaseUrl } = tallies.options();
  const calls: string[] = [];
  /** The messages of the open transaction, and those that were committed. */
  let open: string[] = [];
  const committed: string[] = [];
  const call = async (text: string) => {
    calls.push(text);
    const error = await fault(text);
    if (error || text === 'open') open = [];
    if (error) throw error;
    if (text.startsWith('send')) open.push(...text.split(' ').slice(2));
    if (text === 'commit') committed.push(...open.splice(0));
  };
  const overlaps: string[] = [];
  const publisherFor = (checkpoint: string): Publisher => {
    const of = checkpoint === 'relay' ? '' : `${checkpoint}: `;
    let running: string | null = null;
    const callAlone = async (text: string) => {
      if (running !== null) overlaps.push(`${text} during ${running}`);
      running = text;
      await call(of + text).finally(() => (running = null));
    };
    return {
      open: () => callAlone('open'),
      send: (topic, messages) => callAlone(`send ${topic} ${messages.map(({ id }) => id).join(' ')}`),
      commit: () => callAlone('commit'),
      close: () => callAlone('close'),
    };
  };
  const relay = startRelay({
    client,
    pool: tallies.pool,
    databaseUrl,
    schema: 'tallies',
    prefixes: [prefix],
    log,
    publisherFor,
    topic: 't',
    messageOf: async ({ event }) =>
      event!.type === 'Silent'
        ? null
        : ({ id: `${event!.streamId.slice(prefix.length)}${event!.revision}` } as OutgoingMessage),
    ...changes,
  });
  const stop = async () => {
    await relay.stop();
    // A message that is sent during a commit could join either transaction.
    expect(overlaps).toEqual([]);
  };
  return { calls, committed, stop };
};
/** A prefix of streams that no other test has. */
const newPrefix = () => `relayed${(serial += 1)}-`;
const record = (stream: string, ...types: string[]) =>
  tallies.options().client.appendToStream(
    stream,
    types.map((type) => jsonEvent({ type, data: {} })),
  );
const saved = async () =>
  (await tallies.pool.query("select from tallies.checkpoints where name = 'relay' and commit_position is not null"))
    .rowCount;

test('sends what is published in one transaction, and saves the position after its commit', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 'Published', 'Silent', 'Published');
  let savedAtCommit: unknown = 'not asked';
  const { calls, committed, stop } = start(prefix, (call) => {
    if (call === 'commit' && savedAtCommit === 'not asked') savedAtCommit = saved();
    return null;
  });
  await until(() => committed.length === 2);
  await until(saved);
  await stop();
  expect([calls[0], calls.at(-1)]).toEqual(['open', 'close']);
  // A busy machine may hand the events over one by one.
  const sent = calls.filter((call) => call.startsWith('send t')).flatMap((call) => call.split(' ').slice(2));
  expect([sent, committed]).toEqual([
    ['a0', 'a2'],
    ['a0', 'a2'],
  ]);
  expect(await savedAtCommit).toBe(0);
});

test('sends nothing for events that are not published, and passes them', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 'Silent');
  const { calls, stop } = start(prefix);
  await until(saved);
  await stop();
  expect(calls).toEqual(['open', 'commit', 'close']);
});

test('a message that Kafka refuses is found by sending each in a transaction of its own', async () => {
  const prefix = newPrefix();
  for (const stream of ['a', 'large', 'b']) await record(prefix + stream, 'Published');
  const isLarge = (call: string) => call.startsWith('send') && call.includes('large');
  const { calls, committed, stop } = start(prefix, (call) => (isLarge(call) ? refusal() : null));
  await until(() => committed.includes('b0'));
  await until(saved);
  await stop();
  expect([...new Set(committed)]).toEqual(['a0', 'b0']);
  // Alone, and after the commit of those before it. Its transaction is lost.
  const alone = calls.indexOf('send t large0');
  expect(calls[alone + 1]).toBe('open');
  const { rows } = await tallies.pool.query('select stream, reason from tallies.parked_streams');
  expect(rows).toEqual([{ stream: `${prefix}large`, reason: 'RefusedMessageError: Kafka refuses the message large0' }]);
  const fixed = start(prefix);
  await until(() => fixed.calls.includes('send t large0'));
  await fixed.stop();
});

test('a refused message does not lose those that wait for the same commit', async () => {
  const isRefusedBeforeCommit = async (): Promise<boolean> => {
    const prefix = newPrefix();
    await record(`${prefix}a`, 'Published');
    let isFirst = true;
    const { calls, committed, stop } = start(prefix, (call) => {
      if (call.startsWith('send') && call.includes('large')) return refusal();
      if (!isFirst || call !== 'send t a0') return null;
      isFirst = false;
      return record(`${prefix}large`, 'Published').then(() => sleep(50).then(() => null));
    });
    await until(() => committed.includes('a0') && calls.some((call) => call.includes('large')));
    await stop();
    return calls.findIndex((call) => call.includes('large')) < calls.indexOf('commit');
  };
  // On a busy machine the refused message may arrive after the commit.
  while (!(await isRefusedBeforeCommit()));
});

test('after the next commit, messages share transactions again', async () => {
  const prefix = newPrefix();
  await record(`${prefix}large`, 'Published');
  const { calls, stop } = start(prefix, (call) => (call.includes('large') ? refusal() : null));
  await until(saved);
  // The relay tries the parked stream once more, alone, and then this one.
  await record(`${prefix}b`, 'Published');
  const isAt = 'select from tallies.checkpoints where event_stream = $1';
  await until(async () => (await tallies.pool.query(isAt, [`${prefix}b`])).rowCount);
  calls.length = 0;
  await record(`${prefix}a`, 'Published', 'Published');
  await until(() => calls.includes('commit'));
  await stop();
  // A message that is sent alone follows a commit.
  expect(calls[0]).toMatch(/^send t a0/);
});

test.each(['send t a0', 'commit'])('a relay that is fenced at "%s" begins anew as a follower', async (where) => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 'Published');
  let fences = 1;
  const { calls, stop } = start(prefix, (call) => (call === where && (fences -= 1) >= 0 ? fencing() : null));
  await until(saved);
  await stop();
  expect(calls.filter((call) => call === 'open')).toHaveLength(2);
  expect(calls.filter((call) => call === 'send t a0')).toHaveLength(2);
  expect((await tallies.pool.query('select from tallies.parked_streams')).rowCount).toBe(0);
});

test('fences the relays of an earlier number of shards before it opens its own publisher', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 'Published');
  await tallies.pool.query(
    "insert into tallies.checkpoints (name, epoch, retired_at) values ('relay-1-of-2', 1, now()), ('other', 1, now())",
  );
  const { calls, stop } = start(prefix, (call) =>
    call === 'relay-1-of-2: open' && calls.length < 3 ? new Error('away') : null,
  );
  await until(saved);
  await stop();
  const once = ['relay-1-of-2: open', 'relay-1-of-2: close'];
  expect(calls).toEqual([...once, ...once, 'open', 'send t a0', 'commit', 'close']);
});

test('a parked stream is published in a transaction of its own, and its position is no checkpoint', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 'Published', 'Published');
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision) values ('relay', $1, 1)`,
    [`${prefix}a`],
  );
  const { calls, committed, stop } = start(prefix);
  await until(() => committed.length === 3);
  await until(saved);
  await stop();
  expect(calls.slice(0, 4)).toEqual(['open', 'commit', 'send t a1', 'commit']);
  expect(committed).toEqual(['a1', 'a0', 'a1']);
});
