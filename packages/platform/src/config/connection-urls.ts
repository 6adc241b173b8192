import { z } from 'zod';

// All URLs here may have a password: no fault shows a part of one.
const AMBIGUOUS =
  'has a "/", "?", "#" or "@" in a place where it has a meaning: in a user name or password write %2F, %3F, %23 or %40';
const WRONG_ESCAPE = 'has a "%" that begins no escape: write it as %25';

type Refuse = (message: string) => void;

/** A URL that may have a user name and a password. Refuses one in which a character of the password would end it: the
 *  rest would be read as host, port or path, and errors of the connection would show it. */
const connectionUrl = (protocol: RegExp, error: string, check: (url: string, refuse: Refuse) => void) =>
  z.string().superRefine((url, context) => {
    const refuse: Refuse = (message) => context.addIssue({ code: 'custom', message });
    const [, scheme = '', rest = ''] = /^([a-z+]+):\/\/(.*)$/s.exec(url) ?? [];
    if (!protocol.test(scheme)) refuse(error);
    else if (/[/?#]/.test(rest.slice(0, Math.max(0, rest.lastIndexOf('@'))))) refuse(AMBIGUOUS);
    else if (/%(?![\da-f]{2})/i.test(rest)) refuse(WRONG_ESCAPE);
    else check(url, refuse);
  });

const HTTP_ERROR = 'must be an http:// or https:// address';

export const HttpUrl = connectionUrl(/^https?$/, HTTP_ERROR, (url, refuse) => {
  if (!URL.canParse(url)) refuse(HTTP_ERROR);
});

const DATABASE_ERROR = 'must be a postgres:// URL';

export const DatabaseUrl = connectionUrl(/^postgres(ql)?$/, DATABASE_ERROR, (url, refuse) => {
  if (!URL.canParse(url)) return refuse(DATABASE_ERROR);
  const { searchParams: options } = new URL(url);
  if (options.has('sslcert') !== options.has('sslkey')) refuse('has one of sslcert and sslkey: set both');
  const [file] = ['sslcert', 'sslrootcert'].filter((name) => options.has(name));
  if (file !== undefined && options.get('sslmode') === 'disable')
    refuse(`has ${file} beside sslmode=disable: use sslmode=verify-full, or remove ${file}`);
});

// Those of the client, in the form in which it compares them. For an unknown one it prints the whole URL.
const EVENTSTORE_OPTIONS = [
  'userCertFile',
  'userKeyFile',
  'maxDiscoverAttempts',
  'connectionName',
  'defaultDeadline',
  'discoveryInterval',
  'gossipTimeout',
  'nodePreference',
  'tls',
  'tlsCAFile',
  'throwOnAppendFailure',
  'keepAliveInterval',
  'keepAliveTimeout',
];
const flat = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');
const KNOWN_OPTIONS = new Set(EVENTSTORE_OPTIONS.map(flat));

export const EventStoreUrl = connectionUrl(/^esdb(\+discover)?$/, 'must be an esdb:// URL', (url, refuse) => {
  const options = eventStoreOptions(url);
  const [, credentials] = /^[^/]+\/\/([^/?#]*)@/.exec(url) ?? [];
  if (credentials !== undefined && !/^[^:@]+:[^:@]+$/.test(credentials))
    return refuse('must have the form esdb://user:password@host:2113: write ":" as %3A and "@" as %40 in both');
  if (options.has('tlsverifycert')) return refuse('has tlsVerifyCert, which the client ignores: use tlsCAFile');
  if ([...options.keys()].some((name) => !KNOWN_OPTIONS.has(name)))
    return refuse(`has an option that does not exist: there are ${EVENTSTORE_OPTIONS.join(', ')}`);
  if (options.has('usercertfile') !== options.has('userkeyfile'))
    return refuse('has one of userCertFile and userKeyFile: set both');
  if (options.get('tls') === 'false' && (options.has('tlscafile') || options.has('usercertfile')))
    return refuse('has files of TLS beside tls=false: remove one of them');
});

/** The options of an `esdb://` URL by their flat names. */
export const eventStoreOptions = (url: string): Map<string, string> => {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const pairs = query.split('&').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [flat(name.trim()), value.trim()];
    }),
  );
};
