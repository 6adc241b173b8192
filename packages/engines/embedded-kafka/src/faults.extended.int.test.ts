import { AT, CONTROL } from './records/batch.ts';
import { batchOf, sendBatch } from './testing/batches.ts';
import { clientOf, newName, newTopic, readValues, until } from './testing/cluster.ts';
import { startFaultyBroker } from './testing/faulty-broker.ts';
import { fetchFrom } from './testing/fetch-client.ts';
import {
  type ProducerId,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
} from './testing/transaction-client.ts';

const STEPS = 150;
const OFFSET_OUT_OF_RANGE = 1;
const FENCED = 47;

type Broker = Awaited<ReturnType<typeof startFaultyBroker>>;

test.each([1, 2, 3, 4, 5, 6])(
  'whatever fails, a consumer that keeps its position reads every committed record in order (seed %i)',
  async (seed) => {
    const random = randomOf(seed);
    const broker = await startFaultyBroker();
    const admin = clientOf(broker.brokers).admin();
    await admin.connect();
    const [topic, beside] = [await newTopic(admin), await newTopic(admin)];
    await admin.disconnect();
    const writer = transactionalWriter(broker, [topic, beside]);
    const plain = plainWriter(broker, topic);
    const reader = readerOf(broker, topic);
    const send = () => writer.send(random() < 0.7 ? topic : beside);
    const acts = [send, send, send, plain.send, reader.poll, reader.poll];
    const ends = [() => writer.end(true), () => writer.end(true), () => writer.end(false)];
    const faults = [broker.loseSession, broker.crash, broker.restart];
    const oneOf = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
    for (let step = 0; step < STEPS; step += 1) {
      const act = random() < 0.2 ? oneOf(ends) : oneOf(acts);
      await Promise.all([act(), random() < 0.1 ? oneOf(faults)() : undefined]);
    }
    const committed = writer.committedIn(topic);
    for (const each of [topic, beside]) {
      const last = writer.committedIn(each).length + 1;
      while (writer.committedIn(each).length < last) {
        await writer.send(each);
        await writer.end(true);
      }
    }
    await until(reader.poll);

    expect(new Set(reader.values).size).toBe(reader.values.length);
    const readOf = (values: readonly string[]) => reader.values.filter((value) => values.includes(value));
    expect(readOf(committed)).toEqual(committed);
    expect(readOf(plain.stored)).toEqual(plain.stored);
    const kept = reader.values.filter((value) => committed.includes(value) || plain.stored.includes(value));
    expect(await readValues(clientOf(broker.brokers), topic, kept.length)).toEqual(kept);
    const others = writer.committedIn(beside);
    expect(await readValues(clientOf(broker.brokers), beside, others.length)).toEqual(others);
    await broker.remove();
  },
);

/** Writes values to topics in transactions. Begins a new one with new values when a request fails. */
const transactionalWriter = (broker: Broker, topics: readonly string[]) => {
  const id = newName('tx');
  const committed = new Map(topics.map((topic): [string, string[]] => [topic, []]));
  let producer: ProducerId | null = null;
  let sequences = new Map<string, number>();
  let inTransaction: { topic: string; value: string }[] = [];
  let values = 0;
  const openProducer = async (): Promise<ProducerId> => {
    while (!producer) {
      const started = await broker.ask((client) => initProducer(client, id));
      if (started?.error === 0) producer = started;
      [sequences, inTransaction] = [new Map(), []];
    }
    return producer;
  };
  return {
    committedIn: (topic: string): readonly string[] => committed.get(topic)!,
    send: async (topic: string) => {
      const current = await openProducer();
      const value = `t${String((values += 1)).padStart(5, '0')}`;
      const sequence = sequences.get(topic) ?? 0;
      const isAdded = inTransaction.some((sent) => sent.topic === topic);
      const sent = await broker.ask(async (client) => {
        const [added] = isAdded ? [0] : await addPartitions(client, current, topic);
        return added === 0 ? sendInTransaction(client, current, topic, { sequence, values: [value] }) : null;
      });
      if (sent?.error === 0) {
        inTransaction.push({ topic, value });
        sequences.set(topic, sequence + 1);
      } else {
        producer = null;
      }
    },
    end: async (commit: boolean) => {
      const current = producer;
      if (!current || inTransaction.length === 0) return;
      let error: number | null = null;
      while (error === null) error = await broker.ask((client) => endTransaction(client, current, commit));
      expect([0, FENCED]).toContain(error);
      if (error === FENCED) producer = null;
      else if (commit) for (const { topic, value } of inTransaction) committed.get(topic)!.push(value);
      inTransaction = [];
    },
  };
};

/** Writes values outside of transactions, each of them until it is acknowledged. */
const plainWriter = (broker: Broker, topic: string) => {
  const stored: string[] = [];
  return {
    stored,
    send: async () => {
      const sequence = stored.length;
      const value = `p${String(sequence).padStart(5, '0')}`;
      const batch = () => batchOf([value], { producerId: 1_000_000, epoch: 0, sequence, timestamp: Date.now() });
      await until(async () => (await broker.ask((client) => sendBatch(client, topic, batch())))?.error === 0);
      stored.push(value);
    },
  };
};

/** A consumer that reads uncommitted records, each offset once. */
const readerOf = (broker: Broker, topic: string) => {
  const values: string[] = [];
  let position = 0;
  return {
    values,
    /** Resolves to whether the consumer is at the end of the log. */
    poll: async (): Promise<boolean> => {
      const fetched = await broker.ask((client) => fetchFrom(client, topic, position));
      if (!fetched) return false;
      expect(fetched.error).not.toBe(OFFSET_OUT_OF_RANGE);
      for (const { offset, value } of recordsOf(fetched.records)) {
        if (offset < position) continue;
        if (value !== null) values.push(value);
        position = offset + 1;
      }
      return fetched.error === 0 && position === fetched.highWatermark;
    },
  };
};

/** The records of batches with one record of at most 60 bytes each. The value of a marker is null. */
const recordsOf = (batches: Buffer): { offset: number; value: string | null }[] => {
  const records = [];
  let end: number;
  for (let at = 0; at + AT.records <= batches.length; at = end) {
    end = at + AT.leaderEpoch + batches.readInt32BE(at + AT.length);
    const isMarker = (batches.readInt16BE(at + AT.attributes) & CONTROL) !== 0;
    const value = isMarker ? null : batches.toString('utf8', at + AT.records + VALUE_AT, end - 1);
    records.push({ offset: Number(batches.readBigInt64BE(at)), value });
  }
  return records;
};

/** The bytes of a short record before its value: lengths, attributes, deltas and no key. */
const VALUE_AT = 6;

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
