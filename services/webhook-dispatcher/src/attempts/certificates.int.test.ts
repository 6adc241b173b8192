import { createAddressMatcher } from '@cpg/platform';
import { firstAttempts } from '../testing/jest-first-attempts.ts';
import { startTlsReceiver, TEST_AUTHORITY } from '../testing/jest-tls-receiver.ts';

const { deliver, closeAfter } = firstAttempts();

const production = { allowLocal: false, isAllowed: createAddressMatcher(['127.0.0.1']), ca: TEST_AUTHORITY } as const;
const resolve = async () => ['127.0.0.1'];

test.each([
  ['expired', /CERT_HAS_EXPIRED|expired/],
  ['self-signed', /SELF_SIGNED|self-signed/],
] as const)('an endpoint with a certificate that is %s receives nothing', async (certificate, error) => {
  const receiver = closeAfter(await startTlsReceiver(certificate));
  expect(await deliver(receiver.url, { ...production, resolve })).toMatchObject({
    status: 'pending',
    outcome: 'unreachable',
    status_code: null,
    error: expect.stringMatching(error) as string,
  });
  expect(receiver.received()).toBe(0);
});

test('an endpoint with a valid certificate receives the event', async () => {
  const receiver = closeAfter(await startTlsReceiver('good'));
  expect(await deliver(receiver.url, { ...production, resolve })).toMatchObject({ status: 'delivered' });
});
