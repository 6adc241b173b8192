import { base64Of, payPath } from './file.ts';

test('encodes bytes', async () =>
  expect(await base64Of(new Blob([Uint8Array.of(0, 255, 16)]))).toBe(Buffer.from([0, 255, 16]).toString('base64')));

test.each([
  ['https://pay.example/pay/3A4NDG4HCAXXYXJOUJICHSIVVQ', '/pay/3A4NDG4HCAXXYXJOUJICHSIVVQ'],
  ['https://provider.example/checkout/1', undefined],
  ['javascript:alert(1)', undefined],
  [undefined, undefined],
])('the preview of %s is %s', (url, path) => expect(payPath(url)).toBe(path));
