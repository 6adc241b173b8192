import { ConfigError, eventStoreOptions, withTimeout } from '@cpg/platform';
import { EventStoreDBClient, jsonEvent, WrongExpectedVersionError } from '@eventstore/db-client';
import { FAR_DEADLINE_MS } from './append.ts';
import { withReadTimeout } from './stream.ts';

const CHECK_TIMEOUT_MS = 1_500;

/** A stream that is never written. */
const NEVER_WRITTEN = 'readiness-check';

/** The event store cannot be read or cannot be written. The cause is the error of the client. */
export class CheckFailedError extends Error {
  readonly asked: 'read' | 'append';

  constructor(asked: 'read' | 'append', cause: Error) {
    super(`the event store fails to ${asked}: ${cause.message}`, { cause });
    this.asked = asked;
  }
}

/** Throws CheckFailedError while the event store cannot be read or cannot be written. It writes nothing. */
export const checkEventStore = async (client: EventStoreDBClient, timeoutMs = CHECK_TIMEOUT_MS): Promise<void> => {
  const failedTo = (asked: 'read' | 'append') => (cause: Error) => {
    throw new CheckFailedError(asked, cause);
  };
  await Promise.all([
    checkRead(client, timeoutMs).catch(failedTo('read')),
    checkAppend(client, timeoutMs).catch(failedTo('append')),
  ]);
};

const checkRead = async (client: EventStoreDBClient, timeoutMs: number): Promise<void> => {
  const reading = client.readAll({ maxCount: 1 });
  const read = async () => {
    for await (const _ of reading);
  };
  await withReadTimeout(timeoutMs, reading, read());
};

/** Sends an append that the writer refuses, so that it goes the way of every append: through discovery, the features of
 *  the server, and the leader. */
const checkAppend = async (client: EventStoreDBClient, timeoutMs: number): Promise<void> => {
  const options = { expectedRevision: 'stream_exists' as const, deadline: FAR_DEADLINE_MS };
  const refused = client.appendToStream(NEVER_WRITTEN, jsonEvent({ type: 'Checked', data: {} }), options);
  try {
    await withTimeout(timeoutMs, refused);
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
  }
};

/** Creates a client of the event store at an `esdb://` address. It connects at the first use and reconnects by
 *  itself. Throws ConfigError for an address that it cannot use. */
export const connectEventStore = (url: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    throw new ConfigError(`EVENTSTORE_URL: ${reasonOf(error as Error, url)}`);
  }
};

/** Not the message of the parser: it quotes the address, which may have a password. */
const reasonOf = (error: Error & { expected?: string; location?: [number, number] }, url: string): string => {
  if (error.location) return `expected ${error.expected} at character ${error.location[0] + 1}`;
  const { tlsCAFile } = parseConnectionString(url);
  if (/certificate file/.test(error.message) && tlsCAFile) return `the file of tlsCAFile, ${tlsCAFile}, cannot be read`;
  return error.message;
};

export interface ConnectionString {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** Null without credentials. */
  readonly user: string | null;
  readonly tls: boolean;
  readonly tlsCAFile: string | null;
}

const DEFAULT_PORT = 2113;

/** The parts of an `esdb://` address that matter for a diagnosis, read as the client reads them. */
export const parseConnectionString = (url: string): ConnectionString => {
  const [, user = null, hosts = ''] = /^[^:]+:\/\/(?:([^:@]+):[^@]*@)?([^?]*)/.exec(url) ?? [];
  const options = eventStoreOptions(url);
  const caFile = options.get('tlscafile');
  return {
    hosts: hosts
      .split(/[,/]/)
      .filter((host) => host !== '')
      .map((host) => {
        const [name = '', port] = host.split(':');
        return { host: name, port: Number(port ?? DEFAULT_PORT) };
      }),
    user: user && decodeURIComponent(user),
    tls: options.get('tls') !== 'false',
    tlsCAFile: caFile === undefined ? null : decodeURIComponent(caFile),
  };
};
