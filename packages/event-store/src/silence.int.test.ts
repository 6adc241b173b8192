import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { z } from 'zod';
import { checkEventStore, connectEventStore } from './connect.ts';
import { append, readStream } from './stream.ts';

const Noted = z.object({ type: z.literal('Noted'), data: z.object({}) });
const event = { type: 'Noted', data: {} };
const metadata = { actor: 'test', requestId: 'r', $correlationId: 'c', $causationId: 'r', previousHash: '', hash: '' };

test('a server that takes connections and says nothing is away: nothing waits for it for ever', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const client = connectEventStore(`esdb://127.0.0.1:${(silent.address() as AddressInfo).port}?tls=false`);
  const away = { code: 'dependency_unavailable' };
  await Promise.all([
    expect(readStream(client, 'notes-1', Noted)).rejects.toMatchObject(away),
    expect(
      append(client, 'notes-1', [{ id: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', event, metadata }], -1),
    ).rejects.toMatchObject(away),
    expect(checkEventStore(client)).rejects.toThrow(),
  ]);
  expect(sockets).not.toEqual([]);
  for (const socket of sockets) socket.destroy();
  silent.close();
  await client.dispose();
});
