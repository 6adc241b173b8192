import { log } from '../testing/jest-log.ts';
import { aDelivery } from '../testing/jest-deliveries.ts';
import type { Result } from '../delivery/delivery.ts';
import { createRecorder } from './recorder.ts';

const result = (): Result => ({ delivery: aDelivery(), attempt: null, status: 'failed', nextAt: null });

const record = (write: (results: readonly Result[]) => Promise<void>, gatherMs = 1) => {
  const recorded: Result[] = [];
  const recorder = createRecorder({
    write,
    onRecorded: (results) => recorded.push(...results),
    log,
    gatherMs,
    enough: 4,
    maxBatch: 10,
  });
  return { recorder, recorded };
};

test('writes results in batches, each result once', async () => {
  const writes: (readonly Result[])[] = [];
  const { recorder, recorded } = record(async (results) => void writes.push(results));
  const results = Array.from({ length: 25 }, result);
  results.forEach(recorder.push);
  await recorder.flush();
  expect(writes.map(({ length }) => length)).toEqual([10, 10, 5]);
  expect(recorded).toEqual(results);
  expect(recorder.pending()).toBe(0);
});

test('writes as soon as a batch has enough results', async () => {
  const writes: (readonly Result[])[] = [];
  const { recorder } = record(async (results) => void writes.push(results), 600_000);
  recorder.push(result());
  await new Promise((done) => setImmediate(done));
  expect(writes).toEqual([]);
  for (let n = 0; n < 3; n += 1) recorder.push(result());
  await recorder.flush();
  expect(writes.map(({ length }) => length)).toEqual([4]);
});

test('retries during an outage', async () => {
  let faults = 2;
  const { recorder, recorded } = record(async () => {
    if (faults-- > 0) throw Object.assign(new Error('the database system is shutting down'), { code: '57P03' });
  });
  recorder.push(result());
  await recorder.flush();
  expect(recorded).toHaveLength(1);
});

test('writes the other results of a batch when one cannot be written', async () => {
  const [good, bad, also] = [result(), result(), result()];
  const written: Result[] = [];
  const { recorder } = record(async (results) => {
    if (results.includes(bad)) throw new Error('invalid');
    written.push(...results);
  });
  [good, bad, also].forEach(recorder.push);
  await recorder.flush();
  expect(written).toEqual([good, also]);
});

test('counts what is not durable yet, and ends a flush then', async () => {
  const writes: (() => void)[] = [];
  const { recorder, recorded } = record(() => new Promise((done) => writes.push(done)));
  await recorder.flush();
  for (let n = 0; n < 12; n += 1) recorder.push(result());
  let isFlushed = false;
  const flushing = recorder.flush().then(() => (isFlushed = true));
  for (const [index, pending] of [12, 2].entries()) {
    while (writes.length <= index) await new Promise((done) => setImmediate(done));
    expect([isFlushed, recorder.pending()]).toEqual([false, pending]);
    writes[index]!();
  }
  await flushing;
  expect([recorded.length, recorder.pending()]).toEqual([12, 0]);
});
