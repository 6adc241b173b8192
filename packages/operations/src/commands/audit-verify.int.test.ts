import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, linkEvents, endOf, type LogPosition } from '@cpg/event-sourcing';
import { newContext } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { runAuditVerify } from './audit-verify.ts';
import { startTestStore } from '../../../event-sourcing/src/testing/jest-event-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
afterAll(async () => {
  for (const close of closing) await close();
});

const startStore = async () => {
  const { client, stop } = await startTestStore();
  closing.unshift(stop);
  return client;
};

const write = (client: EventStoreDBClient, stream: string) => {
  const event = { type: 'Counted', data: { at: '2026-01-31T12:00:00.000Z' } };
  const context = newContext('service:test');
  const chained = linkEvents([event], stream, endOf(stream, null), context, { causationId: context.requestId });
  return append(client, stream, chained, -1);
};

/** Runs the command. Resolves to its exit code, the first number of each line, and what the other checks got. */
const verifyWith = async (client: EventStoreDBClient, file: string | undefined, { faults = 0, rows = 0 } = {}) => {
  const lines: string[] = [];
  let since: LogPosition | null = null;
  let comparedRows = false;
  const code = await runAuditVerify({
    client,
    file,
    service: 'counts',
    prefixes: ['count-'],
    signal: new AbortController().signal,
    verifyMore: async (options) => {
      ({ since } = options);
      return { lines: ['books'], faults };
    },
    verifyRows: async () => {
      comparedRows = true;
      return rows;
    },
    print: (line) => void lines.push(line),
  });
  const events = Number(/\b(\d{1,9}) events/.exec(lines.join())![1]);
  return { code, events, since, comparedRows };
};

test('verifies what was recorded since the file was written, and writes it only if all is well', async () => {
  const client = await startStore();
  const file = join(folder, 'all-is-well.json');
  const written = () => JSON.parse(readFileSync(file, 'utf8')) as { counts: { position: LogPosition }; other?: object };
  for (const stream of ['count-1', 'count-2']) await write(client, stream);

  const all = { events: 2, since: null, comparedRows: true };
  for (const fault of [{ faults: 1 }, { rows: 1 }])
    expect(await verifyWith(client, file, fault)).toEqual({ code: 1, ...all });
  expect(existsSync(file)).toBe(false);
  expect(await verifyWith(client, file)).toEqual({ code: 0, ...all });
  const first = written();
  expect(first.counts.position.event).toMatchObject({ stream: 'count-2' });

  writeFileSync(file, JSON.stringify({ ...first, other: first.counts }));
  await write(client, 'count-3');
  const later = { events: 1, since: first.counts.position, comparedRows: false };
  expect(await verifyWith(client, file, { faults: 1 })).toEqual({ code: 1, ...later });
  expect(written().counts).toEqual(first.counts);
  expect(await verifyWith(client, file)).toEqual({ code: 0, ...later });
  expect(written()).toMatchObject({ counts: { position: { event: { stream: 'count-3' } } }, other: first.counts });
  expect(await verifyWith(client, file)).toMatchObject({ code: 0, events: 0 });
  expect(await verifyWith(client, undefined)).toEqual({ code: 0, ...all, events: 3 });
});

test('refuses the file of another event store, and a file that it did not write', async () => {
  const [one, other] = [await startStore(), await startStore()];
  const file = join(folder, 'refused.json');
  await write(one, 'count-1');
  await verifyWith(one, file);
  await expect(verifyWith(other, file)).rejects.toThrow('it is another event store, or an older one');
  await write(other, 'count-1');
  await expect(verifyWith(other, file)).rejects.toThrow('it is another event store, or an older one');
  for (const text of ['', '[1]', '{"counts":{"position":{"commit":"1","prepare":"1"}}}']) {
    writeFileSync(file, text);
    await expect(verifyWith(one, file)).rejects.toThrow('is not a file that "audit verify --since" wrote');
  }
});
