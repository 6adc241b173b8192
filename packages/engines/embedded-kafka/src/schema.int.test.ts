import { freePort } from '@cpg/ports';
import { UnsupportedSchemaVersion, startKafka } from './index.ts';
import { clientOf, newTopic, readValues } from './testing/cluster.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
import { RawClient } from './testing/raw-client.ts';
import { addPartitions, endTransaction, initProducer, sendInTransaction } from './testing/transaction-client.ts';
import { execute, newDatabase } from './testing/database.ts';

let database: Awaited<ReturnType<typeof newDatabase>>;
beforeEach(async () => {
  database = await newDatabase();
});
afterEach(() => database.drop());

const start = async (port?: number) => startKafka({ databaseUrl: database.url, port: port ?? (await freePort()) });

test('data of a later schema version is refused and not changed', async () => {
  await (await start()).stop();
  await execute(database.url, 'update kafka.format set version = 99');
  await expect(start()).rejects.toThrow(UnsupportedSchemaVersion);
  await expect(start()).rejects.toThrow(/schema version 99.*supports version 4/);
});

test('data of schema version 1 is migrated', async () => {
  const before = await start();
  const raw = await RawClient.connect(before.brokers);
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  await sendBatch(raw, topic, batchOf(['kept'], { producerId: 7, epoch: 0, sequence: 0 }));
  raw.close();
  await before.stop();
  await execute(database.url, TO_VERSION_1);
  const after = await start(before.port);
  expect(await readValues(clientOf(after.brokers), topic, 1)).toEqual(['kept']);
  const again = await RawClient.connect(after.brokers);
  const producer = await initProducer(again, 'tx');
  await addPartitions(again, producer, topic);
  expect(await sendInTransaction(again, producer, topic)).toEqual({ error: 0, baseOffset: 1 });
  again.close();
  await after.stop();
});

test('an open transaction of an earlier version, with offsets in it, can be committed', async () => {
  const before = await start();
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  const raw = await RawClient.connect(before.brokers);
  const producer = await initProducer(raw, 'tx');
  await addPartitions(raw, producer, topic);
  await sendInTransaction(raw, producer, topic, { values: ['kept'] });
  await admin.disconnect();
  raw.close();
  await before.stop();
  await execute(database.url, ADD_TRANSACTIONAL_OFFSET);
  const after = await start(before.port);
  const again = await RawClient.connect(after.brokers);
  expect(await endTransaction(again, producer, true)).toBe(0);
  expect(await readValues(clientOf(after.brokers), topic, 1)).toEqual(['kept']);
  again.close();
  await after.stop();
});

test('data of schema version 3 is migrated, and its open transactions continue', async () => {
  const before = await start();
  const admin = clientOf(before.brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  const raw = await RawClient.connect(before.brokers);
  const producer = await initProducer(raw, 'tx');
  await addPartitions(raw, producer, topic);
  await sendInTransaction(raw, producer, topic, { values: ['kept'] });
  raw.close();
  await before.stop();
  await execute(database.url, TO_VERSION_3);
  const after = await start(before.port);
  const again = await RawClient.connect(after.brokers);
  const next = { error: 0, baseOffset: 1 };
  expect(await sendInTransaction(again, producer, topic, { sequence: 1, values: ['new'] })).toEqual(next);
  expect(await endTransaction(again, producer, true)).toBe(0);
  expect(await readValues(clientOf(after.brokers), topic, 2)).toEqual(['kept', 'new']);
  again.close();
  await after.stop();
});

/** After a clean stop. */
const TO_VERSION_3 = `
  create table kafka.log_reservation (
    topic_id int not null references kafka.topic on delete cascade,
    partition int not null,
    reserved_until bigint not null,
    primary key (topic_id, partition)
  );
  insert into kafka.log_reservation select id, 0, 1 from kafka.topic;
  alter table kafka.format add writer uuid;
  update kafka.format set version = 3;`;

const TO_VERSION_1 = `
  alter table kafka.producer drop open_since;
  drop table kafka.transaction, kafka.aborted_transaction, kafka.transaction_offset;
  update kafka.format set version = 1;`;

/** Earlier versions stored this for TxnOffsetCommit. */
const ADD_TRANSACTIONAL_OFFSET = `
  update kafka.transaction set groups = '["group"]';
  insert into kafka.transaction_offset select 'tx', 'group', id, 0, 1, -1, '' from kafka.topic;`;
