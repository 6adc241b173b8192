import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebhookPayload } from '@cpg/contracts';
import { verify } from '@cpg/sdk/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { until } from './until.ts';

/** One delivery attempt that reached the receiver. */
export interface Attempt extends Delivered {
  readonly path: string;
  /** `performance.now()` at the end of the request. */
  readonly atMs: number;
}

/** A status, a status with headers, or `hang` for no answer. */
type Reply = number | { readonly status: number; readonly headers?: Record<string, string> } | 'hang';

export interface Receiver {
  /** The URL of an endpoint. Any path is an endpoint. */
  readonly urlOf: (path: string) => string;
  /** All attempts on an endpoint, in order of arrival. */
  readonly attemptsOn: (path: string) => Attempt[];
  /** Waits for at least `count` attempts on an endpoint. */
  readonly attempts: (path: string, count: number) => Promise<Attempt[]>;
  /** Sets how attempts on an endpoint are answered. The default is 204. */
  readonly answer: (path: string, reply: (attempt: Attempt, index: number) => Reply) => void;
  readonly close: () => Promise<void>;
}

/** Starts a merchant's HTTP server on loopback that records each request. */
export const startReceiver = async (): Promise<Receiver> => {
  const received: Attempt[] = [];
  const replies = new Map<string, (attempt: Attempt, index: number) => Reply>();
  const attemptsOn = (path: string) => received.filter((attempt) => attempt.path === path);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/';
    const attempt = { path, headers: headersOf(request), rawBody: await textOf(request), atMs: performance.now() };
    received.push(attempt);
    const reply = replies.get(path)?.(attempt, attemptsOn(path).length - 1) ?? 204;
    if (reply === 'hang') return;
    const { status, headers = {} } = typeof reply === 'number' ? { status: reply } : reply;
    response.writeHead(status, headers).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;

  return {
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    attemptsOn,
    attempts: (path, count) =>
      until(`${count} attempts on ${path}`, () => {
        const attempts = attemptsOn(path);
        return attempts.length >= count && attempts;
      }),
    answer: (path, reply) => void replies.set(path, reply),
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
};

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

/** A received delivery. Header names are in lower case. */
export interface Delivered {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

/** Verifies a delivery in three ways: with @cpg/sdk/webhooks, with the npm package standardwebhooks, and by
 *  `x-signature`. Returns the payload. Throws if one of them fails. */
export const verifyDelivery = (delivered: Delivered, secret: string): WebhookPayload => {
  const { headers, rawBody } = delivered;
  verify(rawBody, headers, secret);
  new StandardWebhook(secret).verify(rawBody, { ...headers });
  if (!hasValidXSignature(delivered, secret)) throw new Error(`x-signature is wrong: ${headers['x-signature']}`);
  return WebhookPayload.parse(JSON.parse(rawBody));
};

/** The HMAC-SHA256 of `<x-idempotency-key>.<unix seconds>.<raw body>` with the decoded secret as key. */
export const xSignatureMac = (secret: string, signed: string): Buffer =>
  createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest();

/** Whether a `v1` of `x-signature` (`t=<unix seconds>,v1=<hex>[,v1=<hex>]`) is the MAC of the delivery. */
export const hasValidXSignature = ({ headers, rawBody }: Delivered, secret: string): boolean => {
  const parts = (headers['x-signature'] ?? '').split(',').map((part) => part.split('=') as [string, string]);
  const seconds = parts.find(([name]) => name === 't')?.[1];
  const mac = xSignatureMac(secret, `${headers['x-idempotency-key']}.${seconds}.${rawBody}`);
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, hex]) => Buffer.from(hex, 'hex'))
    .some((given) => given.length === mac.length && timingSafeEqual(given, mac));
};
