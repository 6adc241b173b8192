import { CheckFailedError, connectEventStore } from './connect.ts';
import { explainFailure } from './open.ts';

const unavailable = (detail: string) =>
  Object.assign(
    new Error(`14 UNAVAILABLE: No connection established. Last error: Error: ${detail}. Resolution note: `),
    {
      code: 14,
    },
  );
const refused = (code: number) => Object.assign(new Error(`${code} REFUSED`), { code });
const undiscovered = (cause: Error) => new Error('Failed to discover after 10 attempts.', { cause });
const altNames =
  "Hostname/IP does not match certificate's altnames: Host: store. is not in the cert's altnames: DNS:other.example";
const explain = (asked: 'read' | 'append', error: Error, url: string) =>
  explainFailure(new CheckFailedError(asked, error), url);

const URL = 'esdb://pay:secret@store:2113';
const CA = 'esdb+discover://pay:secret@a:2113,b:2113?tls=true&tlsCAFile=/etc/ca.pem';

test.each([
  ['the event store refuses the password of user "pay"', 'read', refused(16), URL],
  ['requires a user: add one to EVENTSTORE_URL', 'read', refused(7), 'esdb://store:2113'],
  ['sends none without TLS', 'read', refused(7), 'esdb://pay:secret@store:2113?tls=false'],
  ['may not read $all: as an administrator', 'read', refused(7), URL],
  ['may not append events', 'append', refused(7), URL],
  ['add tlsCAFile=', 'read', unavailable('self-signed certificate in certificate chain'), URL],
  ['an authority in /etc/ca.pem', 'read', undiscovered(unavailable('unable to verify the first certificate')), CA],
  ["(Host: store. is not in the cert's altnames: DNS:other.example)", 'read', unavailable(altNames), URL],
  ['has expired: install a new one', 'read', undiscovered(unavailable('certificate has expired')), CA],
  ['answers without TLS', 'append', unavailable('ssl3_get_record:wrong version number'), URL],
] as const)('the explanation says: %s', async (sentence, asked, error, url) => {
  const explained = await explain(asked, error, url);
  expect(explained?.message).toContain(sentence);
  expect(explained?.message).not.toContain('secret');
});

test.each([
  ['a refused connection', unavailable('connect ECONNREFUSED 127.0.0.1:2113')],
  ['a failed discovery', undiscovered(unavailable('connect ECONNREFUSED 127.0.0.1:2113'))],
  ['silence', new Error('timed out after 1500 ms')],
  ['a bug of the server', refused(13)],
])('%s needs no correction', async (_, error) => {
  await expect(explain('read', error, URL)).resolves.toBeNull();
});

test.each([
  [
    'esdb://127.0.0.1:2113?tlsCAFile=/nowhere/ca.pem',
    'EVENTSTORE_URL: the file of tlsCAFile, /nowhere/ca.pem, cannot be read',
  ],
  ['esdb://pay:secret@?tls=false', 'EVENTSTORE_URL: expected host at character 19'],
  ['esdb://pay:secret-2113', 'EVENTSTORE_URL: expected port number at character 12'],
])('the address %s is refused, without its password', (url, message) => {
  expect(() => connectEventStore(url)).toThrow(message);
});
