import { type EventStoreDBClient, StreamDeletedError } from '@eventstore/db-client';
import { append } from './append.ts';
import type { Recorded } from './recorded.ts';

/** A client whose appends fail with these errors in turn. */
const failingWith = (...errors: Error[]) =>
  ({ appendToStream: () => Promise.reject(errors.shift()!) }) as unknown as EventStoreDBClient;

const events = [
  { id: 'evt_01J0000000000000000000000A', event: { type: 'Counted', data: {} } },
] as unknown as Recorded[];
const deleted = () => StreamDeletedError.fromStreamName('order-1');

test('an append to a deleted stream is answered as such', async () => {
  expect(await append(failingWith(deleted()), 'order-1', events, 0)).toBe('deleted');
});

test('a refused append is a conflict, also with throwOnAppendFailure=false in EVENTSTORE_URL', async () => {
  const lenient = { appendToStream: () => Promise.resolve({ success: false, nextExpectedRevision: 1n }) };
  expect(await append(lenient as unknown as EventStoreDBClient, 'order-1', events, 0)).toBe('conflict');
});

test('the outcome is unknown if the stream was deleted after an append without an answer', async () => {
  const appended = append(failingWith(new Error('Commit phase timeout'), deleted()), 'order-1', events, 0);
  await expect(appended).rejects.toMatchObject({ code: 'outcome_unknown' });
});

test('an append that could not be sent before the stream was deleted did not take effect', async () => {
  const notSent = new Error('Failed to discover after 10 attempts.');
  expect(await append(failingWith(notSent, deleted()), 'order-1', events, 0)).toBe('deleted');
});

describe('a caller that refuses an attempt', () => {
  const refusal = new Error('the lease ended');
  const appendRefusing = (from: number, ...errors: Error[]) => {
    let attempts = 0;
    const beforeAttempt = () => {
      attempts += 1;
      if (attempts >= from) throw refusal;
    };
    return append(failingWith(...errors), 'order-1', events, -1, beforeAttempt);
  };

  test('sends nothing, if it is the first', () => expect(appendRefusing(1)).rejects.toBe(refusal));

  test('leaves the outcome unknown, if an earlier one got no answer', () =>
    expect(appendRefusing(2, new Error('Commit phase timeout'))).rejects.toMatchObject({ code: 'outcome_unknown' }));

  test('has recorded nothing, if no earlier one was sent', () =>
    expect(appendRefusing(2, new Error('Failed to discover after 10 attempts.'))).rejects.toBe(refusal));
});
