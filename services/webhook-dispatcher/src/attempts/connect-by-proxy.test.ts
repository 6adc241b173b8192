import { type AddressInfo, createServer } from 'node:net';
import { startProxy } from '../testing/jest-proxy.ts';
import { closeAfter, post, PUBLIC, requestTo, senderOf } from '../testing/jest-senders.ts';
import { startTlsReceiver } from '../testing/jest-tls-receiver.ts';

test('asks the proxy for the checked address, and speaks TLS with the endpoint itself', async () => {
  const [receiver, proxy] = [closeAfter(await startTlsReceiver('good')), closeAfter(await startProxy())];
  expect(await post(receiver.url, { proxy: proxy.url('operator:p%40ss@') })).toMatchObject({
    outcome: 'delivered',
    statusCode: 204,
  });
  expect(proxy.requests).toEqual([
    {
      authority: `${PUBLIC}:${receiver.port}`,
      authorization: `Basic ${Buffer.from('operator:p@ss').toString('base64')}`,
    },
  ]);
  expect(receiver.received()).toBe(1);
});

test('asks for an IPv6 address in brackets, and for port 443 by default', async () => {
  const proxy = closeAfter(await startProxy({ status: 403 }));
  await post('https://shop.example/', { proxy: proxy.url(), resolve: async () => ['2606:2800:220:1::1'] });
  expect(proxy.requests.map(({ authority }) => authority)).toEqual(['[2606:2800:220:1::1]:443']);
});

test('asks the proxy for public addresses only', async () => {
  const proxy = closeAfter(await startProxy());
  const names: [string, string[]][] = [
    ['https://10.0.0.1/', []],
    ['https://shop.example/', ['169.254.169.254']],
    ['https://shop.example/', [PUBLIC, '::ffff:10.0.0.1']],
    ['http://shop.example/', [PUBLIC]],
  ];
  for (const [url, addresses] of names)
    expect(await post(url, { proxy: proxy.url(), resolve: async () => addresses })).toMatchObject({
      outcome: 'blocked',
    });
  expect(proxy.requests).toEqual([]);
});

test('checks a name again for each connection', async () => {
  const proxy = closeAfter(await startProxy({ status: 502 }));
  const answers = [[PUBLIC], ['127.0.0.1']];
  const sender = senderOf({ proxy: proxy.url(), resolve: async () => answers.shift()! });
  const request = requestTo('https://shop.example/');
  expect(await sender.post(request)).toMatchObject({ outcome: 'unreachable', error: 'the proxy answered 502' });
  expect(await sender.post(request)).toMatchObject({ outcome: 'blocked' });
  expect(proxy.requests).toHaveLength(1);
});

test('reports a proxy that is unavailable or does not answer', async () => {
  const stopped = await startProxy();
  const proxy = stopped.url();
  await stopped.close();
  expect(await post('https://shop.example/', { proxy })).toMatchObject({
    outcome: 'unreachable',
    error: expect.stringMatching(/^the proxy could not be reached: .*ECONNREFUSED/) as string,
  });
  const silent = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as AddressInfo;
  expect(
    await post('https://shop.example/', { proxy: new URL(`http://127.0.0.1:${port}`), connectWithinMs: 100 }),
  ).toMatchObject({ outcome: 'timed_out', error: expect.stringMatching(/the proxy did not connect/) as string });
  silent.close();
});

test('connects to loopback without the proxy where loopback is allowed', async () => {
  const proxy = closeAfter(await startProxy({ status: 502 }));
  const receiver = closeAfter(await startTlsReceiver('self-signed'));
  expect(
    await post(receiver.url, { allowLocal: true, proxy: proxy.url(), resolve: async () => ['127.0.0.1'] }),
  ).toMatchObject({ outcome: 'delivered' });
  expect(proxy.requests).toEqual([]);
});
