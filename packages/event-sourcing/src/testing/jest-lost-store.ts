import { setTimeout as sleep } from 'node:timers/promises';
import { startEventStore } from '@cpg/embedded-eventstore';
import { freePort } from '@cpg/ports';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createServiceLog, newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { append } from '../store/append.ts';
import { openEventStore } from '../store/open.ts';
import type { LogPosition } from '../store/recorded.ts';
import { runSubscription, type SubscriptionOptions } from '../store/subscription.ts';
import { EVENT_STORE } from '../store/errors.ts';
import { METADATA } from './metadata.ts';

const WRITERS = 4;
const GIVE_UP_MS = 10_000;

export const note = (client: EventStoreDBClient, stream: string) =>
  append(client, stream, [{ id: newId('event'), event: { type: 'Noted', data: {} }, metadata: METADATA }], -1);

/** Milliseconds from the return of the store; Infinity when it takes more than 10 s. */
export interface Recovery {
  /** Until every writer has written again. */
  readonly writtenMs: number;
  /** Until a subscription has received an event that was written after the return. */
  readonly receivedMs: number;
}

/** Takes the store away for `awayMs` while writers and a subscription go on. */
export const loseStore = async (scheme: 'esdb:' | 'esdb+discover:', awayMs: number): Promise<Recovery> => {
  const database = await testDatabase();
  const port = await freePort();
  let server = await startEventStore({ databaseUrl: database.url, port });
  const { log, outages } = createServiceLog({ name: 'test', level: 'silent' });
  const { client, check, close } = openEventStore({ url: server.url.replace('esdb:', scheme), log });
  outages.watch(EVENT_STORE, { check });
  const over = new AbortController();
  let returnedAt = Infinity;
  let written = 0;
  let received = () => {};
  const receivedAt = new Promise<number>((resolve) => (received = () => resolve(performance.now())));
  const subscribing = follow({ client, signal: over.signal, wait: outages.wait, log }, (streams) => {
    if (streams.some((stream) => stream.startsWith('note-again-'))) received();
  });

  const write = async (writer: number): Promise<number> => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const isBack = performance.now() >= returnedAt;
      try {
        await note(client, `note-${isBack ? 'again' : 'first'}-${writer}-${n}`);
        written += 1;
        if (isBack) return performance.now();
      } catch (error) {
        outages.refused(error);
      }
      await sleep(20);
    }
    return Infinity;
  };
  const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  while (written < 2 * WRITERS) await sleep(5);

  await server.stop();
  await sleep(awayMs);
  server = await startEventStore({ databaseUrl: database.url, port });
  returnedAt = performance.now();
  const giveUp = setTimeout(() => over.abort(), GIVE_UP_MS);
  const aborted = new Promise<number>((resolve) => over.signal.addEventListener('abort', () => resolve(Infinity)));
  const writtenAt = Math.max(...(await Promise.all(writing)));
  const lastAt = await Promise.race([receivedAt, aborted]);
  clearTimeout(giveUp);
  over.abort();
  await subscribing;
  outages.stop();
  await close();
  await server.stop();
  await database.drop();
  return { writtenMs: writtenAt - returnedAt, receivedMs: lastAt - returnedAt };
};

const follow = (
  options: Pick<SubscriptionOptions, 'client' | 'signal' | 'wait' | 'log'>,
  handle: (streams: string[]) => void,
) => {
  let checkpoint: LogPosition | null = null;
  return runSubscription({
    ...options,
    prefixes: ['note-'],
    checkpoint: async () => checkpoint,
    handle: async (events, position) => {
      checkpoint = position;
      handle(events.map(({ event }) => event!.streamId));
    },
  });
};
