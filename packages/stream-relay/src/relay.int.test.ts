import { EventEmitter, once } from 'node:events';
import { connectEventStore } from '@cpg/event-store';
import { createPool } from '@cpg/postgres';
import { createLogger } from '@cpg/runtime';
import { startRelay } from './relay.ts';
import { startTallies } from './testing/jest-tallies.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });

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
