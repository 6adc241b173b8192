import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { databaseDependency, isTransientDatabaseError, POSTGRES } from '@cpg/platform/postgres';
import { createApp, createServiceLog } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { acceptJsonBodies } from './json-body.ts';

test('a client that breaks off its upload is no outage of the database, and no failure of the gateway', async () => {
  const lines: string[] = [];
  const { log, outages } = createServiceLog({
    name: 'test',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  });
  outages.watch(POSTGRES, databaseDependency({ query: async () => ({}) } as never));
  const app = createApp({ log, outages, isTransientError: isTransientDatabaseError }) as unknown as FastifyInstance;
  acceptJsonBodies(app);
  app.post('/orders', async () => ({}));
  const statuses: number[] = [];
  const answered = new Promise<void>((done) => {
    app.addHook('onError', async (_request, _reply, error: Error & { code?: string }) => {
      expect(error.code).toBe('ECONNRESET');
      setImmediate(done);
    });
    app.addHook('onSend', async (_request, reply) => void statuses.push(reply.statusCode));
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    'POST /orders HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":',
  );
  app.server.once('request', () => setImmediate(() => socket.resetAndDestroy()));
  await answered;
  expect(statuses).toEqual([400]);
  expect(outages.totals()[POSTGRES]).toMatchObject({ outages: 0, refused: 0 });
  expect(lines).toEqual([]);
  outages.stop();
  await app.close();
});
