import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readUrl } from './source.ts';

/** The answer of a server to a read. */
const readFrom = async (status: number, body: string, date: string) => {
  const server = createServer((_, response) => response.writeHead(status, { date }).end(body));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    return await readUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};
const MADE = 'Sat, 21 Nov 2026 05:21:00 GMT';

test('an answer has its text and the time at which the server made it', async () => {
  expect(await readFrom(200, '{"price":1}', MADE)).toEqual({ body: '{"price":1}', at: new Date(MADE) });
  expect(await readFrom(200, '{}', 'no time')).toEqual({ body: '{}' });
});

test('only an answer with status 200 is read', async () => {
  await expect(readFrom(503, '{"price":1}', MADE)).rejects.toThrow('answered 503');
  await expect(readFrom(204, '', MADE)).rejects.toThrow('answered 204');
});

test('an answer of more than 2 MiB is refused', async () => {
  expect((await readFrom(200, 'x'.repeat(2 ** 21), MADE)).body).toHaveLength(2 ** 21);
  await expect(readFrom(200, 'x'.repeat(2 ** 21 + 1), MADE)).rejects.toThrow('more than 2097152 bytes');
});
