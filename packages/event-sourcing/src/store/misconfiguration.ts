import { connect } from 'node:tls';
import { ConfigError } from '@cpg/platform';
import type { CheckFailedError } from './connect.ts';
import { type ConnectionString, parseConnectionString } from './connection-string.ts';

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
