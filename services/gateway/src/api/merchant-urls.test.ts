import { checkBrowserUrl } from './merchant-urls.ts';

const check = (url: string, allowLocal = false) => checkBrowserUrl(url, { path: 'return_url', allowLocal });

test.each([
  'https://shop.example',
  'HTTPS://SHOP.EXAMPLE/thanks?table=B7',
  'https://shop.example:8443/a?b=c&b=d',
  'https://bücher.example/danke',
])('accepts %s', (url) => expect(() => check(url)).not.toThrow());

test.each([
  'http://shop.example/',
  'http://localhost:3000/',
  'javascript:alert(1)',
  'data:text/html,hello',
  '//shop.example',
  '/thanks',
  'https:shop.example',
  'https://',
  'https://user:secret@shop.example/',
  'https://user@shop.example/',
  'https://shop.example/#thanks',
  'https://shop.example\\@evil.example/',
  'https://shop.example/\nthanks',
  ' https://shop.example/',
  'https://shop.example/\u0085',
])('refuses %j', (url) =>
  expect(() => check(url)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      details: [expect.objectContaining({ path: 'return_url' })],
    }),
  ),
);

test.each(['http://localhost:3000/thanks', 'http://shop.localhost/', 'http://127.0.0.1:3000/', 'http://[::1]/'])(
  'accepts %s for a sandbox on this machine',
  (url) => expect(() => check(url, true)).not.toThrow(),
);

test.each(['http://shop.example/', 'http://10.0.0.1/', 'http://notlocalhost/', 'ftp://localhost/'])(
  'refuses %s also for a sandbox on this machine',
  (url) => expect(() => check(url, true)).toThrow(expect.objectContaining({ code: 'invalid_request' })),
);
