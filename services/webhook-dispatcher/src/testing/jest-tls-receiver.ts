import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name), 'utf8');

/** The certificate authority that signed `good` and `expired`. */
export const TEST_AUTHORITY = file('authority.pem');

/** A webhook endpoint on loopback with TLS and one of the test certificates. It answers 204 and counts requests. */
export const startTlsReceiver = async (certificate: 'good' | 'expired' | 'self-signed') => {
  let received = 0;
  const server = createServer(
    { key: file(`${certificate}.key`), cert: file(`${certificate}.pem`) },
    (request, response) => {
      received += 1;
      request.resume().on('end', () => response.writeHead(204).end());
    },
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://localhost:${port}/hook`,
    received: () => received,
    /** Closes open connections. */
    disconnect: () => server.closeAllConnections(),
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(done);
      }),
  };
};
