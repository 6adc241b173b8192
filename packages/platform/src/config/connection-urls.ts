import { isIP } from 'node:net';
import { z } from 'zod';
import { createAddressMatcher, isAddressOrCidr } from '../network/addresses.ts';
import { CommaSeparatedList } from './values.ts';

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

type Environment = Readonly<Record<string, string | undefined>>;

/** Tells whether nobody else can read a connection to a host. */
type IsPrivate = (host: string) => boolean;

/** Hosts that are reached over a network which only the operator can read: names, `.suffix` for all names below,
 *  addresses and CIDR blocks. */
export const PrivateHosts = CommaSeparatedList.refine(
  (list) => list.every((entry) => isAddressOrCidr(entry) || /^\.?[a-z\d_-]+(\.[a-z\d_-]+)*$/i.test(entry)),
  { error: 'must be a comma-separated list of host names, addresses and CIDR blocks' },
);

const LOOPBACK = ['127.0.0.0/8', '::1'];
const HTTP_URLS = ['ORDERS_URL', 'PAYMENTS_URL', 'WEBHOOK_DISPATCHER_URL', 'WEBHOOK_PROXY_URL', 'OIDC_ISSUER'] as const;

/** The connections of a production that others could read or change on their way, as `NAME: fault`. Shows no part of a
 *  URL: it may have a password. */
export const unencryptedConnections = (env: Environment): string[] => {
  const isPrivate = privateHosts(env.PRIVATE_HOSTS);
  const fault = (name: string, remedy: string) =>
    `${name}: is not encrypted: ${remedy}, or name its host in PRIVATE_HOSTS if nobody else can read that network`;
  return [
    ...(isOpenDatabase(env.DATABASE_URL, isPrivate) ? [fault('DATABASE_URL', 'use sslmode=verify-full')] : []),
    ...(isOpenEventStore(env.EVENTSTORE_URL, isPrivate) ? [fault('EVENTSTORE_URL', 'remove tls=false')] : []),
    ...(isOpenKafka(env, isPrivate) ? [fault('KAFKA_BROKERS', 'set KAFKA_TLS=true')] : []),
    ...HTTP_URLS.filter((name) => isOpenHttp(env[name], isPrivate)).map((name) => fault(name, 'use https://')),
    ...(urlsIn(env.CHAIN_URLS).some((url) => isOpenHttp(url, isPrivate)) ? [fault('CHAIN_URLS', 'use https://')] : []),
  ];
};

const privateHosts = (text = ''): IsPrivate => {
  const entries = PrivateHosts.safeParse(text).data ?? [];
  const isPrivateAddress = createAddressMatcher([...LOOPBACK, ...entries.filter(isAddressOrCidr)]);
  const names = entries.filter((entry) => !isAddressOrCidr(entry)).map((entry) => entry.toLowerCase());
  return (host) => {
    const name = host
      .replace(/^\[(.*)\]$/, '$1')
      .replace(/\.$/, '')
      .toLowerCase();
    if (isIP(name)) return isPrivateAddress(name);
    return (
      name === 'localhost' || names.some((entry) => (entry.startsWith('.') ? name.endsWith(entry) : name === entry))
    );
  };
};

const ENCRYPTING_MODES = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);

/** Whether the connection may be read by others. `pg` verifies the server in these modes, unless `uselibpqcompat` is
 *  set. A socket does not leave this machine. */
const isOpenDatabase = (text: string | undefined, isPrivate: IsPrivate): boolean => {
  if (text === undefined || !URL.canParse(text)) return false;
  const { hostname, searchParams: options } = new URL(text);
  const host = options.get('host') ?? decodeURIComponent(hostname);
  if (host === '' || host.startsWith('/') || isPrivate(host)) return false;
  const mode = options.get('sslmode');
  if (mode === null) return !['true', '1'].includes(options.get('ssl') ?? '') && !options.has('sslrootcert');
  if (options.get('uselibpqcompat') === 'true') return mode !== 'verify-full';
  return !ENCRYPTING_MODES.has(mode);
};

const isOpenEventStore = (url: string | undefined, isPrivate: IsPrivate): boolean => {
  if (url === undefined || eventStoreOptions(url).get('tls') !== 'false') return false;
  const [, hosts = ''] = /^[^/]+\/\/(?:[^@/?]*@)?([^?]*)/.exec(url) ?? [];
  return hosts.split(/[,/]/).some((host) => host !== '' && !isPrivate(withoutPort(host)));
};

const isOpenKafka = ({ KAFKA_BROKERS = '', KAFKA_TLS }: Environment, isPrivate: IsPrivate): boolean => {
  const brokers = CommaSeparatedList.safeParse(KAFKA_BROKERS).data ?? [];
  return KAFKA_TLS !== 'true' && brokers.some((broker) => !isPrivate(withoutPort(broker)));
};

const withoutPort = (host: string): string => host.trim().replace(/:\d+$/, '');

const isOpenHttp = (url: string | undefined, isPrivate: IsPrivate): boolean => {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isPrivate(hostname);
};

/** All texts in a JSON object of lists. None if the JSON is wrong: the schema of the setting reports that. */
const urlsIn = (json = '{}'): string[] => {
  try {
    return Object.values(JSON.parse(json) as object)
      .flat()
      .filter((url) => typeof url === 'string');
  } catch {
    return [];
  }
};
