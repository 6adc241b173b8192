import { createAddressMatcher, type ResolveHost } from '@cpg/platform';
import { checkEndpointUrl } from './merchant-urls.ts';

const failing =
  (code: string): ResolveHost =>
  () =>
    Promise.reject(Object.assign(new Error(code), { code }));
const at =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses;

const check = (
  url: string,
  { resolve = at('93.184.216.34'), allowLocal = false, allowed = [] as string[], allowedPorts = [] as number[] } = {},
) => checkEndpointUrl(url, { allowLocal, resolve, isAllowed: createAddressMatcher(allowed), allowedPorts });

const notPublic = { code: 'host_not_public', details: [expect.objectContaining({ path: 'url' })] };
const refusal = { code: 'invalid_request', details: [expect.objectContaining({ path: 'url' })] };

test.each([
  'https://shop.example/hooks',
  'HTTPS://SHOP.EXAMPLE',
  'https://shop.example:8443/a?b=c',
  'https://shop.example:443/',
  'https://shop.example:80/',
  'https://shop.example:1024/',
  'https://93.184.216.34/',
  'https://[2606:2800:220:1::1]/',
  'https://bücher.example/',
])('accepts %s', async (url) => {
  await expect(check(url)).resolves.toBeUndefined();
});

test.each([
  'http://shop.example/',
  'ftp://shop.example/',
  'javascript:alert(1)',
  'shop.example/hooks',
  '//shop.example',
  'https:shop.example',
  'https://',
  '',
  'https://user:secret@shop.example/',
  'https://user@shop.example/',
  'https://shop.example/#here',
  'https://shop.example/#',
  ' https://shop.example/',
  'https://shop\n.example/',
  'https://shop.example/a b',
  'https:\\\\shop.example/',
  'https://shop.example\\@evil.example/',
  'https://shop.example:25/',
  'https://shop.example:0/',
  'https://shop.example:1023/',
  'https://127.0.0.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://0/',
  'https://0xa9fea9fe/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
  'https://[::7f00:1]/',
  'https://[fd00:ec2::254]/',
  'https://168.63.129.16/',
])('refuses %j', async (url) => {
  await expect(check(url)).rejects.toMatchObject(refusal);
});

test('refuses a host with one private address', async () => {
  await expect(check('https://shop.example/', { resolve: at('93.184.216.34', '10.0.0.1') })).rejects.toMatchObject(
    notPublic,
  );
});

test('refuses an unknown host; a resolver failure is dependency_unavailable', async () => {
  await expect(check('https://shop.example/', { resolve: failing('ENOTFOUND') })).rejects.toMatchObject(notPublic);
  await expect(check('https://shop.invalid/')).rejects.toMatchObject(notPublic);
  await expect(check('https://shop.example/', { resolve: failing('ETIMEOUT') })).rejects.toMatchObject({
    code: 'dependency_unavailable',
  });
});

test('accepts private addresses that the operator allows, with https only', async () => {
  const allowed = ['10.1.0.0/16'];
  await expect(check('https://10.1.2.3/', { allowed })).resolves.toBeUndefined();
  await expect(check('https://inside.example/', { allowed, resolve: at('10.1.2.3') })).resolves.toBeUndefined();
  await expect(check('https://10.2.0.1/', { allowed })).rejects.toMatchObject(refusal);
  await expect(check('http://10.1.2.3/', { allowed })).rejects.toMatchObject(refusal);
});

describe('with allowLocal', () => {
  test.each([
    ['http://127.0.0.1:9000/hooks', at()],
    ['https://127.9.9.9/', at()],
    ['http://[::1]:9000/', at()],
    ['http://localhost:9000/', at('127.0.0.1', '::1')],
    ['https://shop.example/', failing('ENOTFOUND')],
  ])('accepts %s', async (url, resolve) => {
    await expect(check(url, { resolve, allowLocal: true })).resolves.toBeUndefined();
  });

  test.each([
    ['http://shop.example/', at('93.184.216.34')],
    ['http://shop.example/', failing('ENOTFOUND')],
    ['http://localhost/', at('127.0.0.1', '93.184.216.34')],
    ['https://10.0.0.1/', at()],
    ['https://169.254.169.254/', at()],
  ])('refuses %s', async (url, resolve) => {
    await expect(check(url, { resolve, allowLocal: true })).rejects.toMatchObject(refusal);
  });

  test.each([
    ['https://shop.invalid/', failing('ENOTFOUND')],
    ['https://mixed.example/', at('127.0.0.1', '10.0.0.1')],
  ])('refuses %s while DNS says so', async (url, resolve) => {
    await expect(check(url, { resolve, allowLocal: true })).rejects.toMatchObject(notPublic);
  });
});

test('an operator can allow a port below 1024', async () => {
  await expect(check('https://shop.example:981/', { allowedPorts: [981] })).resolves.toBeUndefined();
  await expect(check('https://shop.example:982/', { allowedPorts: [981] })).rejects.toMatchObject(refusal);
  await expect(check('http://127.0.0.1:9/', { allowLocal: true })).resolves.toBeUndefined();
  await expect(check('https://shop.example:9/', { allowLocal: true })).rejects.toMatchObject(refusal);
});
