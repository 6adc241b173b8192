import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectEventStore } from '../store/connect.ts';
import type { Publisher } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import { startRelay } from './relay.ts';
import { startTallies } from '../testing/jest-tallies.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });

/** As kafkajs has it when the broker refuses a message. */
class KafkaJSProtocolError extends Error {
  override readonly name = 'KafkaJSProtocolError';
  readonly type = 'MESSAGE_TOO_LARGE';
}

test('a message that Kafka refuses parks its stream, and holds up no other one', async () => {
  const tallies = await startTallies();
  const { databaseUrl, projection, pool } = tallies;
  const { client } = tallies.options();
  for (const id of ['a', 'large', 'b']) await tallies.tally(id, 1);
  await tallies.tally('large', 2);
  await tallies.tally('a', 2);
  const committed = new Set<string>();
  let transaction: string[] | null = null;
  const publisher: Publisher = {
    open: async () => void (transaction = []),
    send: async (_, messages) => {
      if (!transaction) throw new Error('the publisher is not open');
      if (messages.some(({ orderid }) => orderid === 'tally-large')) {
        transaction = null;
        throw new KafkaJSProtocolError('too large');
      }
      transaction.push(...messages.map(({ id }) => id));
    },
    commit: async () => {
      if (!transaction) throw new Error('the publisher is not open');
      for (const id of transaction.splice(0)) committed.add(id);
    },
    close: async () => {},
  };
  const relay = startRelay({
    client,
    pool,
    databaseUrl,
    schema: projection.schema,
    prefixes: projection.prefixes,
    log,
    publisherFor: () => publisher,
    topic: 'orders.v1',
    messageOf: async ({ event }) => {
      const { n } = event!.data as { n: number };
      const id = `${event!.streamId} ${n}`;
      return { id, orderid: event!.streamId, time: new Date(0).toISOString(), text: id };
    },
  });
  while (committed.size < 3) await sleep(20);
  expect([...committed].toSorted()).toEqual(['tally-a 1', 'tally-a 2', 'tally-b 1']);
  const { rows } = await pool.query('select subscription, stream, revision::int, reason from tallies.parked_streams');
  const reason = 'RefusedMessageError: Kafka refuses the message tally-large 1';
  expect(rows).toEqual([{ subscription: 'relay', stream: 'tally-large', revision: 0, reason }]);
  const isSaved = 'select from tallies.checkpoints where commit_position is not null';
  while ((await pool.query(isSaved)).rowCount === 0) await sleep(20);
  await relay.stop();
  await tallies.stop();
});

test('stops in time while Kafka does not answer', async () => {
  const { databaseUrl, projection, eventStoreUrl, stop } = await startTallies();
  const pool = createPool({ url: databaseUrl, name: 'relay', max: 2, log });
  const client = connectEventStore(eventStoreUrl);
  const { schema, prefixes } = projection;
  const never = () => new Promise<void>(() => {});
  let giveUp = (_: Error) => {};
  const opening = new EventEmitter();
  const open = () =>
    new Promise<void>((_, fail) => {
      giveUp = fail;
      opening.emit('open');
    });
  const relay = startRelay({
    client,
    pool,
    databaseUrl,
    schema,
    prefixes,
    log,
    publisherFor: () => ({ open, send: never, commit: never, close: never }),
    topic: 'orders.v1',
    messageOf: async () => null,
  });
  await once(opening, 'open');
  await relay.stop();
  giveUp(new Error('Kafka does not answer'));
  await client.dispose();
  await pool.end();
  await stop();
});
