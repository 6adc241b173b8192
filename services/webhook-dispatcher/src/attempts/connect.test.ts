import { createAddressMatcher } from '@cpg/platform';
import { closeAfter, post, PUBLIC, requestTo, senderOf } from '../testing/jest-senders.ts';
import { startTlsReceiver } from '../testing/jest-tls-receiver.ts';

describe('does not connect to', () => {
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

  test.each([0, 22, 25, 1_023])('port %i', async (port) => {
    expect(await post(`https://${PUBLIC}:${port}/`)).toMatchObject({
      outcome: 'blocked',
      error: `port ${port} is not allowed for webhooks`,
    });
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
      error: 'the address of shop.example is not public',
    });
  });
});

test('connects to a port below 1024 that the operator allows, and to any of this machine in a sandbox', async () => {
  const isAllowed = createAddressMatcher(['127.0.0.0/8']);
  const refused = { outcome: expect.not.stringMatching('blocked') };
  expect(await post('https://127.0.0.1:1/', { isAllowed })).toMatchObject({ outcome: 'blocked' });
  expect(await post('https://127.0.0.1:1/', { isAllowed, allowedPorts: [1] })).toMatchObject(refused);
  expect(await post('http://127.0.0.1:1/', { allowLocal: true })).toMatchObject(refused);
});

describe('with addresses that the operator allows', () => {
  const isAllowed = createAddressMatcher(['127.0.0.0/8']);
  const resolve = async () => ['127.0.0.1'];

  test('connects to them, by address and by name', async () => {
    const receiver = closeAfter(await startTlsReceiver('good'));
    for (const host of ['127.0.0.1', 'localhost'])
      expect(await post(`https://${host}:${receiver.port}/hook`, { isAllowed, resolve })).toMatchObject({
        outcome: 'delivered',
        statusCode: 204,
      });
  });

  test('checks a name again for each connection', async () => {
    const receiver = closeAfter(await startTlsReceiver('good'));
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const sender = senderOf({ isAllowed, resolve: async () => answers.shift()! });
    expect(await sender.post(requestTo(receiver.url))).toMatchObject({ outcome: 'delivered' });
    receiver.disconnect();
    expect(await sender.post(requestTo(receiver.url))).toMatchObject({ outcome: 'blocked' });
  });

  test('does not connect to other addresses, nor by plain http', async () => {
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
  ] as const)('does not trust a certificate that is %s', async (certificate, words) => {
    const receiver = closeAfter(await startTlsReceiver(certificate));
    expect(await post(receiver.url, { isAllowed, resolve })).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(words) as string,
    });
    expect(receiver.received()).toBe(0);
  });

  test('does not trust a certificate of another host or of an unknown authority', async () => {
    const receiver = closeAfter(await startTlsReceiver('good'));
    expect(await post(`https://shop.example:${receiver.port}/`, { isAllowed, resolve })).toMatchObject({
      outcome: 'unreachable',
      error: expect.stringMatching(/ERR_TLS_CERT_ALTNAME_INVALID/) as string,
    });
    expect(await post(receiver.url, { isAllowed, resolve, ca: undefined })).toMatchObject({ outcome: 'unreachable' });
    expect(receiver.received()).toBe(0);
  });
});
