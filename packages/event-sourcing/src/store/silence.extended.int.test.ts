import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { checkEventStore, connectEventStore } from './connect.ts';
import { stateAt } from '../aggregate/state-at.ts';
import { append } from './append.ts';
import { eventsOf, readStream } from './stream.ts';
import { METADATA } from '../testing/metadata.ts';

const Noted = z.object({ type: z.literal('Noted'), data: z.object({}) });
const event = { type: 'Noted', data: {} };

test('every call fails when the server accepts connections but never answers', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const client = connectEventStore(`esdb://127.0.0.1:${(silent.address() as AddressInfo).port}?tls=false`);
  const unavailable = { code: 'dependency_unavailable' };
  await Promise.all([
    expect(readStream(client, 'notes-1', Noted)).rejects.toMatchObject(unavailable),
    expect(
      append(client, 'notes-1', [{ id: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', event, metadata: METADATA }], -1),
    ).rejects.toMatchObject({ code: 'outcome_unknown' }),
    expect(eventsOf(client, 'notes-1', Noted).next()).rejects.toMatchObject(unavailable),
    expect(checkEventStore(client)).rejects.toThrow(),
  ]);
  expect(sockets).not.toEqual([]);
  for (const socket of sockets) socket.destroy();
  silent.close();
  await client.dispose();
});

test('an append that cannot be sent has certainly recorded nothing', async () => {
  const refusing = connectEventStore('esdb://127.0.0.1:1?tls=false');
  const events = [{ id: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', event, metadata: METADATA }];
  await expect(append(refusing, 'notes-1', events, -1)).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await refusing.dispose();
});

test('a read has no time limit while events keep arriving or the caller handles one', async () => {
  const EVENTS = 7;
  const slow = {
    readStream: (streamId: string) => {
      const reading = Readable.from(
        (async function* () {
          for (let revision = 0; revision < EVENTS; revision += 1) {
            await sleep(900);
            const id = `00000000-0000-4000-8000-00000000000${revision}`;
            yield { event: { streamId, revision: BigInt(revision), id, ...event, metadata: METADATA } };
          }
        })(),
      );
      return Object.assign(reading, { cancel: async () => {} });
    },
  } as unknown as EventStoreDBClient;
  const counting = { initial: 0, evolve: (count: number) => count + 1 };
  const { after } = stateAt({ client: slow, decider: counting, schema: Noted });
  const readSlowly = async () => {
    let read = 0;
    for await (const { revision } of eventsOf(slow, 'notes-1', Noted)) {
      if (revision === 0) await sleep(5_500);
      read += 1;
    }
    return read;
  };
  const [recorded, state, read] = await Promise.all([
    readStream(slow, 'notes-1', Noted),
    after({ stream: 'notes-1', revision: EVENTS, id: 'evt_1', event: { type: 'Noted', data: {} }, metadata: METADATA }),
    readSlowly(),
  ]);
  expect([recorded?.length, state, read]).toEqual([EVENTS, EVENTS + 1, EVENTS]);
});
