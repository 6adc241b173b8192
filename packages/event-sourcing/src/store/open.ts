import { Readable } from 'node:stream';
import { connect } from 'node:tls';
import { ConfigError, type Logger } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import {
  checkEventStore,
  type CheckFailedError,
  connectEventStore,
  type ConnectionString,
  parseConnectionString,
} from './connect.ts';

interface EventStore {
  /** The client of all calls. It stays the same object when the one behind it is replaced. */
  readonly client: EventStoreDBClient;
  /** Readiness check. A client that fails it is replaced by a new one if that one passes. Throws a ConfigError if a
   *  setting is wrong. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface EventStoreOptions {
  readonly url: string;
  readonly log: Logger;
  readonly connect?: (url: string) => EventStoreDBClient;
}

/** Longer than a discovery over a slow network. A readiness check has no time for it. */
const DIAGNOSIS_TIMEOUT_MS = 5_000;

/** Opens the event store at an `esdb://` address for a service. */
export const openEventStore = ({ url, log, connect = connectEventStore }: EventStoreOptions): EventStore => {
  let current = connect(url);
  const retired: EventStoreDBClient[] = [];
  const subscriptions = new Set<Readable>();
  let isClosed = false;
  let replacing: Promise<void> | null = null;
  /** Why the latest new client failed. */
  let fault: Error | null = null;

  const replace = async (): Promise<void> => {
    const failed = current;
    const fresh = connect(url);
    // A replacement interrupts subscriptions: first see whether the current client has recovered.
    fault = await faultOf(fresh, url, DIAGNOSIS_TIMEOUT_MS);
    const isBetter = fault === null && (await faultOf(failed, url)) !== null && !isClosed;
    if (!isBetter) return void fresh.dispose().catch(() => {});
    current = fresh;
    // Its reads may finish. `dispose` would end subscriptions without an event.
    retired.push(failed);
    for (const subscription of subscriptions) {
      subscription.destroy(new Error('the client of the event store was replaced'));
    }
    log.warn('replaced the client of the event store: it failed while a new client could read and write');
  };
  return {
    client: delegateTo(() => current, subscriptions),
    check: async () => {
      const failure = await faultOf(current, url);
      if (failure === null) {
        fault = null;
        return;
      }
      replacing ??= replace()
        .catch(() => {})
        .finally(() => (replacing = null));
      throw fault instanceof ConfigError ? fault : failure;
    },
    close: async () => {
      isClosed = true;
      await Promise.all([current, ...retired].map((client) => client.dispose()));
    },
  };
};

/** The setting to correct when the event store cannot be read or written; null when it can, or is only unavailable. */
export const explainEventStore = async (client: EventStoreDBClient, url: string): Promise<ConfigError | null> => {
  const fault = await faultOf(client, url, DIAGNOSIS_TIMEOUT_MS);
  return fault instanceof ConfigError ? fault : null;
};

const faultOf = async (client: EventStoreDBClient, url: string, timeoutMs?: number): Promise<Error | null> => {
  try {
    await checkEventStore(client, timeoutMs);
    return null;
  } catch (error) {
    return (await explainFailure(error as CheckFailedError, url)) ?? (error as Error);
  }
};

const delegateTo = (current: () => EventStoreDBClient, subscriptions: Set<Readable>): EventStoreDBClient =>
  new Proxy({} as EventStoreDBClient, {
    get: (_, property) => {
      const client = current();
      const member: unknown = Reflect.get(client, property, client);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, client, args);
        if (String(property).startsWith('subscribe') && result instanceof Readable) {
          subscriptions.add(result);
          result.once('close', () => subscriptions.delete(result));
        }
        return result;
      };
    },
  });

// Statuses of gRPC.
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

const UNTRUSTED =
  /unable to verify the first certificate|unable to get (local )?issuer certificate|self-signed certificate/;
const WRONG_NAME = /Hostname\/IP does not match certificate's altnames: (.*?)\.? Resolution note/s;
const EXPIRED = /certificate has expired/;
const NO_TLS = /wrong version number|packet length too long/;
const NOT_CONNECTED = /No connection established\. Last error: Failed to connect/;
const TLS_PROBE_TIMEOUT_MS = 500;

/** The setting that makes a check fail, and how to correct it; null when the event store is only unavailable. */
export const explainFailure = async (failed: CheckFailedError, url: string): Promise<ConfigError | null> => {
  const settings = parseConnectionString(url);
  const sentence = refusalOf(failed, settings) ?? (await connectionFaultOf(textOf(failed), settings));
  return sentence === null ? null : new ConfigError(sentence, { cause: failed });
};

const refusalOf = ({ asked, cause }: CheckFailedError, { user, tls }: ConnectionString): string | null => {
  const { code } = cause as { code?: unknown };
  if (code !== UNAUTHENTICATED && code !== PERMISSION_DENIED) return null;
  if (user === null)
    return 'the event store requires a user: add one to EVENTSTORE_URL, as in esdb://user:password@host:2113';
  if (!tls)
    return 'the event store requires a user, and its client sends none without TLS: turn on TLS in the event store, and remove tls=false from EVENTSTORE_URL';
  if (code === UNAUTHENTICATED)
    return `the event store refuses the password of user "${user}", or does not know the user: correct EVENTSTORE_URL (percent-encode special characters in the password), or create the user in the event store`;
  return asked === 'read'
    ? `user "${user}" of EVENTSTORE_URL may not read $all: as an administrator of the event store, set the metadata of the stream $all to {"$acl":{"$r":["$admins","${user}"]}}, or add the user to the group $admins`
    : `user "${user}" of EVENTSTORE_URL may not append events: as an administrator of the event store, add the user to $userStreamAcl.$w in the stream $settings, or to the group $admins`;
};

const connectionFaultOf = async (text: string, settings: ConnectionString): Promise<string | null> => {
  const { tlsCAFile } = settings;
  if (UNTRUSTED.test(text))
    return tlsCAFile
      ? `the certificate of the event store is not signed by an authority in ${tlsCAFile}: put the certificate of the authority that signed it into the file that tlsCAFile in EVENTSTORE_URL names`
      : 'the certificate of the event store is not signed by an authority that Node.js trusts: add tlsCAFile=<PEM file of the authority that signed it> to EVENTSTORE_URL';
  const [, mismatch] = WRONG_NAME.exec(text) ?? [];
  if (mismatch !== undefined)
    return `the certificate of the event store is for another name (${mismatch}): use a name of the certificate in EVENTSTORE_URL and in the advertised address of each node, or issue a certificate for this name`;
  if (EXPIRED.test(text)) return 'the certificate of the event store has expired: install a new one in the event store';
  if (NO_TLS.test(text))
    return 'the event store answers without TLS: turn on TLS in the event store, or add tls=false to EVENTSTORE_URL if nobody else can read the network';
  if (!settings.tls && NOT_CONNECTED.test(text) && (await requiresTls(settings)))
    return 'the event store requires TLS: remove tls=false from EVENTSTORE_URL';
  return null;
};

/** The messages of an error and its causes. A failed discovery has that of the last node as its cause. */
const textOf = (error: unknown): string => (error instanceof Error ? `${error.message}\n${textOf(error.cause)}` : '');

const requiresTls = async ({ hosts }: ConnectionString): Promise<boolean> => {
  const answers = await Promise.all(hosts.map(speaksTls));
  return answers.includes(true);
};

/** Whether a server completes a TLS handshake, with whatever certificate. */
const speaksTls = ({ host, port }: { host: string; port: number }): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: TLS_PROBE_TIMEOUT_MS });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('secureConnect', () => end(true));
    for (const event of ['error', 'timeout', 'end']) socket.once(event, () => end(false));
  });
