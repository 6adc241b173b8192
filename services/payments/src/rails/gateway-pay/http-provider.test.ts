import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpProvider } from './http-provider.ts';

/** A provider that answers each request as told. */
const providerThat = async (answer: (response: ServerResponse) => void, { timeoutMs }: { timeoutMs?: number } = {}) => {
  const server = createServer((request, response) => void request.resume().on('end', () => answer(response)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const provider = httpProvider({
    name: 'acme',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    currencies: ['USDC'],
    secrets: ['a secret of the provider, thirty-two characters'],
    publicUrl: 'http://127.0.0.1:4000',
    now: () => new Date(),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return {
    ...provider,
    [Symbol.asyncDispose]: async () => {
      await provider.close();
      server.closeAllConnections();
      server.close();
    },
  };
};

test('an answer that drips ends after the time for a whole answer', async () => {
  const drips = (response: ServerResponse) => {
    const drip = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(drip));
  };
  await using provider = await providerThat(drips, { timeoutMs: 200 });
  await expect(provider.query('REF')).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('follows no redirect', async () => {
  let requests = 0;
  await using provider = await providerThat((response) => {
    requests += 1;
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  await expect(provider.query('REF')).rejects.toMatchObject({ code: 'dependency_unavailable' });
  expect(requests).toBe(1);
});

test('reads no endless answer', async () => {
  await using provider = await providerThat((response) => void response.end('1'.repeat(300_000)));
  await expect(provider.query('REF')).rejects.toMatchObject({ cause: { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' } });
});
