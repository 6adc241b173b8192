import { setTimeout as sleep } from 'node:timers/promises';
import { wallClockMs } from '@cpg/platform';
import { errors, Pool } from 'undici';
import { z } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import { retryAfterMs, rpcErrorClass, type RpcErrorClass, statusClass } from './rpc-errors.ts';

/** A node answered the question with a JSON-RPC error. Never because of its limits: then it is a ChainNodeError, so
 *  that nobody takes a rate limit for a missing block, method or state. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly kind: Exclude<RpcErrorClass, 'busy' | 'too_large'>;
  constructor(code: number, message: string, kind: RpcError['kind'] = 'unknown') {
    super(message);
    this.code = code;
    this.kind = kind;
  }
}

export interface RpcNode {
  /** Its place in the list of URLs, from 1: the only name that logs and errors show. */
  readonly number: number;
  /** The `result` of one call. Throws RpcError, or ChainNodeError without a usable answer. */
  readonly call: (method: string, params?: readonly unknown[]) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export interface RpcNodeOptions {
  readonly url: string;
  readonly number: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Waits before a call to a busy node is repeated. */
  readonly busyWaitsMs?: readonly number[];
}

// A limit per second refuses only some of the calls that a block needs.
const BUSY_WAITS_MS = [500, 1_000, 2_000];
const LONGEST_BUSY_WAIT_MS = 3_000;
const TIMEOUT_MS = 30_000;
// A Bitcoin block has 8 MB in hex, the traces of a full EVM block have tens of MB.
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_MESSAGE = 200;
// At 400 ms an answer, enough for a chain with four blocks a second.
const CONNECTIONS = 16;

/** A JSON-RPC 2.0 client of one node. No error contains its URL. */
export const rpcNode = ({
  url,
  number,
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_BYTES,
  busyWaitsMs = BUSY_WAITS_MS,
}: RpcNodeOptions): RpcNode => {
  const { origin, pathname, search, username, password } = new URL(url);
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const pool = new Pool(origin, { connections: CONNECTIONS, maxResponseSize: maxBytes, ...timeouts });
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...basic(username, password) };
  const withoutSecrets = redactor([
    ...[username, password].flatMap((text) => [text, decodeURIComponent(text)]),
    ...pathname.split('/'),
    ...search.split(/[?&=]/),
  ]);
  let lastId = 0;

  const failure = (method: string, fault: ChainNodeError['fault'], why: string, waitMs: number | null = null) =>
    new ChainNodeError(fault, `node ${number}, ${method}: ${withoutSecrets(why)}`, { retryAfterMs: waitMs });

  const ask = async (method: string, params: readonly unknown[]): Promise<Response> => {
    const id = (lastId += 1);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const response = await pool.request({ method: 'POST', path: pathname + search, headers, body, signal });
      const { statusCode: status, headers: answered } = response;
      return { id, status, retryAfter: String(answered['retry-after'] ?? ''), text: await response.body.text() };
    } catch (error) {
      if (error instanceof errors.ResponseExceededMaxSizeError)
        throw failure(method, 'too_large', `answered more than ${maxBytes} bytes`);
      throw failure(method, ...faultOf(error, signal));
    }
  };

  const resultOf = (method: string, { id, status, retryAfter, text }: Response): unknown => {
    const answer = Answer.safeParse(parsed(text)).data;
    const waitMs = (data?: unknown) => retryAfterMs(retryAfter || undefined, data, wallClockMs());
    if (!answer || answer.id !== id) {
      const kind = statusClass(status);
      if (kind !== 'unknown') throw failure(method, kind, `HTTP status ${status}`, waitMs());
      if (status < 200 || status >= 300) throw failure(method, 'refused', `HTTP status ${status}`);
      throw failure(method, 'malformed', 'is no answer of JSON-RPC to the question');
    }
    if (answer.error) {
      const { code, message, data } = answer.error;
      const why = `error ${code}: ${message.slice(0, MAX_MESSAGE)}`;
      const kind = status === 429 ? 'busy' : rpcErrorClass(code, message);
      if (kind === 'busy' || kind === 'too_large') throw failure(method, kind, why, waitMs(data));
      throw new RpcError(code, `node ${number}, ${method}: ${withoutSecrets(why)}`, kind);
    }
    return answer.result;
  };

  const callOnce = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    resultOf(method, await ask(method, params));

  /** Asks again while the node is busy, unless it wants a longer pause. */
  const call = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    for (const waitMs of busyWaitsMs) {
      try {
        return await callOnce(method, params);
      } catch (error) {
        if (!(error instanceof ChainNodeError) || error.fault !== 'busy') throw error;
        if ((error.retryAfterMs ?? 0) > LONGEST_BUSY_WAIT_MS) throw error;
        await sleep(Math.max(waitMs, error.retryAfterMs ?? 0));
      }
    }
    return callOnce(method, params);
  };

  return { number, call, close: () => pool.destroy() };
};

interface Response {
  readonly id: number;
  readonly status: number;
  /** The header `Retry-After`; empty without one. */
  readonly retryAfter: string;
  readonly text: string;
}

const Answer = z
  .object({
    id: z.number(),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).nullish(),
  })
  .refine(({ error, result }) => error || result !== undefined);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const faultOf = (error: unknown, signal: AbortSignal): [ChainNodeError['fault'], string] => {
  const code = String((error as { code?: string | number } | null)?.code ?? '');
  if (signal.aborted || code.includes('TIMEOUT')) return ['timeout', 'no whole answer in time'];
  return ['unreachable', /^[A-Z_0-9]+$/.test(code) ? code : 'the connection failed'];
};

const basic = (username: string, password: string): Record<string, string> =>
  username === ''
    ? {}
    : {
        authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      };

const SHORTEST_SECRET = 6;

/** Nodes repeat parts of the URL in their messages, and control characters would forge lines of a log. */
const redactor = (parts: readonly string[]) => {
  const secrets = parts.filter((part) => part.length >= SHORTEST_SECRET);
  return (text: string) =>
    secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text.replace(/\p{C}/gu, ' '));
};

/** A list, read up to its first invalid item: one report for each of millions would take gigabytes. */
export const listOf = <T>(item: z.ZodType<T>) =>
  z.array(z.unknown()).transform((items, context): T[] => {
    const list: T[] = [];
    for (const [index, each] of items.entries()) {
      const { success, data, error } = item.safeParse(each);
      if (!success) {
        context.addIssue({ code: 'custom', path: [index, ...error.issues[0]!.path] });
        return z.NEVER;
      }
      list.push(data);
    }
    return list;
  });

/** The answer in its form. Throws ChainNodeError that names the node and the first invalid field. */
export const checkedAnswer = <T>(node: RpcNode, method: string, form: z.ZodType<T>, answer: unknown): T => {
  const { success, data, error } = form.safeParse(answer);
  if (success) return data;
  const path = error.issues[0]!.path.join('.');
  throw new ChainNodeError('malformed', `node ${node.number}, ${method}: ${path || 'the answer'} is invalid`);
};

/** Throws ChainNodeError if an answer contradicts the question or another answer. */
export const requireMatch = (condition: boolean, node: RpcNode, method: string, why: string): void => {
  if (!condition) throw new ChainNodeError('mismatch', `node ${node.number}, ${method}: ${why}`);
};
