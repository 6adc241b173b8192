import { type AddressInfo, createServer } from 'node:net';
import { createAddressMatcher } from '@cpg/runtime';
import { startProxy } from '../testing/jest-proxy.ts';
import { startTlsReceiver, TEST_AUTHORITY } from '../testing/jest-tls-receiver.ts';
import { createSender, type SenderOptions } from './send.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const PUBLIC = '93.184.216.34';
const kept = <T extends { close: () => Promise<unknown> }>(made: T): T => {
  closing.push(made.close);
  return made;
};
/** A sender as production has it, nothing local unless it is said. */
const senderOf = (options: Partial<SenderOptions>) =>
  kept(
    createSender({
      allowLocal: false,
      connections: 1,
      ca: TEST_AUTHORITY,
      resolve: async () => [PUBLIC],
      now: () => new Date(),
      ...options,
    }),
  );
const requestTo = (url: string) => ({ webhookId: 'whk_1', url: new URL(url), headers: [], body: Buffer.from('{}') });
const post = (url: string, options: Partial<SenderOptions> = {}) => senderOf(options).post(requestTo(url));

describe('it does not dial', () => {
  test.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '0xa9fea9fe',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[::127.0.0.1]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::a00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:7f00:1::1]',
  ])('the host %s', async (host) => {
    expect(await post(`https://${host}/`)).toMatchObject({ outcome: 'blocked' });
  });

  test.each([
    ['10.0.0.1'],
    ['::ffff:10.0.0.1'],
    ['64:ff9b::a00:1'],
    ['2002:a00:1::'],
    ['fd00:ec2::254'],
    ['168.63.129.16'],
    [PUBLIC, '127.0.0.1'],
    [PUBLIC, '::1'],
  ])('a name that resolves to %s %s', async (...addresses) => {
    expect(await post('https://shop.example/', { resolve: async () => addresses.filter(Boolean) })).toMatchObject({
      outcome: 'blocked',
    });
  });
});

describe('an operator may allow addresses', () => {
  const isAllowed = createAddressMatcher(['127.0.0.0/8']);
  const resolve = async () => ['127.0.0.1'];

  test('they are dialled, by address and by name', async () => {
    const receiver = kept(await startTlsReceiver('good'));
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await post(`https://${host}:${receiver.port}/hook`, { isAllowed, resolve })).toMatchObject({
        outcome: 'delivered',
        statusCode: 204,
      });
  });

  test('a name that changes between check and use is checked as it is used', async () => {
    const receiver = kept(await startTlsReceiver('good'));
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const sender = senderOf({ isAllowed, resolve: async () => answers.shift()! });
    expect(await sender.post(requestTo(receiver.url))).toMatchObject({ outcome: 'delivered' });
    receiver.letGo();
    expect(await sender.post(requestTo(receiver.url))).toMatchObject({ outcome: 'blocked' });
  });

  test('others are not, nor are they by plain http', async () => {
    expect(await post('https://10.0.0.1/', { isAllowed })).toMatchObject({ outcome: 'blocked' });
    expect(await post('http://127.0.0.1/', { isAllowed })).toMatchObject({ outcome: 'blocked' });
    expect(
      await post('https://shop.example/', { isAllowed, resolve: async () => ['127.0.0.1', '10.0.0.1'] }),
    ).toMatchObject({
      outcome: 'blocked',
    });
  });

  test.each([
    ['expired', /expired/],
    ['self-signed', /self-signed/],
  ] as const)('a certificate that is %s is not trusted', async (certificate, words) => {
    const receiver = kept(await startTlsReceiver(certificate));
    expect(await post(receiver.url, { isAllowed, resolve })).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(words) as string,
    });
    expect(receiver.received()).toBe(0);
  });

  test('nor is one of another host, or of an authority that is not known', async () => {
    const receiver = kept(await startTlsReceiver('good'));
    expect(await post(`https://shop.example:${receiver.port}/`, { isAllowed, resolve })).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(/ERR_TLS_CERT_ALTNAME_INVALID/) as string,
    });
    expect(await post(receiver.url, { isAllowed, resolve, ca: undefined })).toMatchObject({ outcome: 'unreachable' });
    expect(receiver.received()).toBe(0);
  });
});

describe('by a proxy', () => {
  test('it asks for the address that was checked, and speaks TLS with the endpoint itself', async () => {
    const [receiver, proxy] = [kept(await startTlsReceiver('good')), kept(await startProxy())];
    expect(await post(receiver.url, { proxy: proxy.url('operator:p%40ss@') })).toMatchObject({
      outcome: 'delivered',
      statusCode: 204,
    });
    expect(proxy.asked).toEqual([
      {
        authority: `${PUBLIC}:${receiver.port}`,
        authorization: `Basic ${Buffer.from('operator:p@ss').toString('base64')}`,
      },
    ]);
    expect(receiver.received()).toBe(1);
  });

  test('an IPv6 address is asked for in brackets, port 443 where none is named', async () => {
    const proxy = kept(await startProxy({ status: 403 }));
    await post('https://shop.example/', { proxy: proxy.url(), resolve: async () => ['2606:2800:220:1::1'] });
    expect(proxy.asked.map(({ authority }) => authority)).toEqual(['[2606:2800:220:1::1]:443']);
  });

  test('what is not public is not asked for', async () => {
    const proxy = kept(await startProxy());
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
    expect(proxy.asked).toEqual([]);
  });

  test('a name that changes between check and use is checked as it is used', async () => {
    const proxy = kept(await startProxy({ status: 502 }));
    const answers = [[PUBLIC], ['127.0.0.1']];
    const sender = senderOf({ proxy: proxy.url(), resolve: async () => answers.shift()! });
    const request = requestTo('https://shop.example/');
    expect(await sender.post(request)).toMatchObject({ outcome: 'unreachable', error: 'the proxy answered 502' });
    expect(await sender.post(request)).toMatchObject({ outcome: 'blocked' });
    expect(proxy.asked).toHaveLength(1);
  });

  test('one that is away, or does not answer, is a failure that says so', async () => {
    const gone = await startProxy();
    const proxy = gone.url();
    await gone.close();
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

  test('loopback, where it is allowed, is dialled as it is', async () => {
    const proxy = kept(await startProxy({ status: 502 }));
    const receiver = kept(await startTlsReceiver('self-signed'));
    expect(
      await post(receiver.url, { allowLocal: true, proxy: proxy.url(), resolve: async () => ['127.0.0.1'] }),
    ).toMatchObject({ outcome: 'delivered' });
    expect(proxy.asked).toEqual([]);
  });
});
