import { isIP } from 'node:net';
import { createAddressMatcher, isAddressOrCidr } from '../network/addresses.ts';
import { CommaSeparatedList } from './values.ts';
import { eventStoreOptions } from './connection-urls.ts';

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
const HTTP_URLS = ['ORDERS_URL', 'PAYMENTS_URL', 'WEBHOOK_DISPATCHER_URL', 'WEBHOOK_PROXY_URL'] as const;

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

/** `pg` verifies the server in these modes, unless it is told to be as lax as libpq. A socket is of this machine. */
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

/** All texts in a JSON object of lists. What is wrong with it, its own schema says. */
const urlsIn = (json = '{}'): string[] => {
  try {
    return Object.values(JSON.parse(json) as object)
      .flat()
      .filter((url) => typeof url === 'string');
  } catch {
    return [];
  }
};
