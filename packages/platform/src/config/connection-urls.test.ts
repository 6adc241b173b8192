import { DatabaseUrl, EventStoreUrl, HttpUrl } from './connection-urls.ts';

const faultsOf = (schema: typeof HttpUrl, url: string): string =>
  (schema.safeParse(url).error?.issues ?? []).map(({ message }) => message).join('\n');

describe.each([
  ['DATABASE_URL', DatabaseUrl, 'postgres', 'db.internal:5432/cpg'],
  ['EVENTSTORE_URL', EventStoreUrl, 'esdb', 'store.internal:2113?tls=true'],
  ['WEBHOOK_PROXY_URL', HttpUrl, 'http', 'proxy.internal:3128'],
] as const)('%s', (_, schema, scheme, rest) => {
  const withPassword = (password: string) => `${scheme}://cpg:${password}@${rest}`;

  test.each(['1234#zq', '1234/zq', '1234?zq', '1234#zq@zq', '1234%zq', '1234%2#zq'])(
    'refuses the password %s, and shows no part of it',
    (password) => {
      const faults = faultsOf(schema, withPassword(password));
      expect(faults).toMatch(/write (%2F|it as %25)/);
      expect(faults).not.toMatch(/1234|zq/);
    },
  );

  test('accepts any password that is percent-encoded', () => {
    expect(faultsOf(schema, withPassword(encodeURIComponent('a@b#c/d?e:f%g')))).toBe('');
    expect(faultsOf(schema, `${scheme}://${rest}`)).toBe('');
  });

  test('refuses another scheme', () => expect(faultsOf(schema, 'ftp://cpg:secret@host')).toMatch(/^must be an? /));
});

test.each([
  ['postgres://h/db?sslcert=/c.pem', /one of sslcert and sslkey/],
  ['postgres://h/db?sslkey=/k.pem', /one of sslcert and sslkey/],
  ['postgres://h/db?sslmode=disable&sslrootcert=/ca.pem', /sslrootcert beside sslmode=disable/],
])('refuses half of TLS in %s', (url, fault) => expect(faultsOf(DatabaseUrl, url)).toMatch(fault));

test.each([
  ['esdb://admin@h:2113', /must have the form esdb:\/\/user:password/],
  ['esdb://admin:a:b@h:2113', /write ":" as %3A/],
  ['esdb://admin:a@b@h:2113', /"@" as %40/],
  ['esdb://h:2113?userCertFile=/c.pem', /one of userCertFile and userKeyFile/],
  ['esdb://h:2113?tls=false&tlsCAFile=/ca.pem', /files of TLS beside tls=false/],
  // For these two, the client prints the whole URL to the console.
  ['esdb://admin:secret@h:2113?tlsVerifyCert=false', /the client ignores/],
  ['esdb://admin:secret@h:2113?tlsCertFile=/ca.pem', /has an option that does not exist: there are userCertFile/],
])('refuses %s', (url, fault) => {
  const faults = faultsOf(EventStoreUrl, url);
  expect(faults).toMatch(fault);
  expect(faults).not.toMatch(/secret/);
});

test('accepts a cluster, and options in any case', () => {
  const options = 'tls=true&tls_ca_file=/ca.pem&USERCERTFILE=/c.pem&userKeyFile=/k.pem&nodePreference=leader';
  expect(faultsOf(EventStoreUrl, `esdb+discover://ops:p%40ss@a:2113,b:2113,c:2113?${options}`)).toBe('');
});
