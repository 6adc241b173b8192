import { isAscii } from 'node:buffer';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallClockMs } from '@cpg/core';
import { errors, Pool } from 'undici';
import { ChainNodeError } from './chain-source.ts';
import { decodedHex } from './hex-parts.ts';
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
  /** The bytes of a `result` in hex digits, alone in their ArrayBuffer. Throws like `call`. */
  readonly bytes: (method: string, params: readonly unknown[]) => Promise<Buffer>;
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
      return { id, status, retryAfter: String(answered['retry-after'] ?? ''), body: await partsOf(response.body) };
    } catch (error) {
      if (error instanceof errors.ResponseExceededMaxSizeError)
        throw failure(method, 'too_large', `answered more than ${maxBytes} bytes`);
      throw failure(method, ...faultOf(error, signal));
    }
  };

  const resultOf = (method: string, { id, status, retryAfter }: Response, json: string): unknown => {
    const answer = parsed(json);
    const waitMs = (data?: unknown) => retryAfterMs(retryAfter || undefined, data, wallClockMs());
    if (!isAnswer(answer, id)) {
      const kind = statusClass(status);
      if (kind !== 'unknown') throw failure(method, kind, `HTTP status ${status}`, waitMs());
      if (status < 200 || status >= 300) throw failure(method, 'refused', `HTTP status ${status}`);
      throw failure(method, 'malformed', 'is no answer of JSON-RPC to the question');
    }
    if (answer.error !== undefined && answer.error !== null) {
      const { code, message, data } = answer.error;
      const text = `error ${code}: ${message.slice(0, MAX_MESSAGE)}`;
      const kind = status === 429 ? 'busy' : rpcErrorClass(code, message);
      if (kind === 'busy' || kind === 'too_large') throw failure(method, kind, text, waitMs(data));
      throw new RpcError(code, `node ${number}, ${method}: ${withoutSecrets(text)}`, kind);
    }
    return answer.result;
  };

  /** Asks again while the node is busy, unless it wants a longer pause. */
  const patiently = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (const waitMs of busyWaitsMs) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof ChainNodeError) || error.fault !== 'busy') throw error;
        if ((error.retryAfterMs ?? 0) > LONGEST_BUSY_WAIT_MS) throw error;
        await sleep(Math.max(waitMs, error.retryAfterMs ?? 0));
      }
    }
    return attempt();
  };

  const call = (method: string, params: readonly unknown[] = []): Promise<unknown> =>
    patiently(async () => {
      const response = await ask(method, params);
      return resultOf(method, response, textOf(response.body));
    });

  const bytes = (method: string, params: readonly unknown[]): Promise<Buffer> =>
    patiently(() => askBytes(method, params));

  const askBytes = async (method: string, params: readonly unknown[]): Promise<Buffer> => {
    const response = await ask(method, params);
    const { json, digits } = withoutLongResult(response.body);
    const result = resultOf(method, response, json);
    const isCut = digits !== null && result === '';
    const decoded = isCut ? decodedHex(digits) : typeof result === 'string' ? decodedHex([Buffer.from(result)]) : null;
    if (!decoded) throw failure(method, 'malformed', 'is no text in hex');
    return decoded;
  };
  return { number, call, bytes, close: () => pool.destroy() };
};

interface Response {
  readonly id: number;
  readonly status: number;
  /** The header `Retry-After`; empty without one. */
  readonly retryAfter: string;
  /** In the parts in which it arrived: joining megabytes costs time and garbage. */
  readonly body: readonly Buffer[];
}

const partsOf = async (body: Readable): Promise<Buffer[]> => {
  const parts: Buffer[] = [];
  body.on('data', (part: Buffer) => parts.push(part));
  await finished(body);
  return parts;
};

const RESULT = '"result":"';

/** Cuts out the result, because JSON.parse would copy megabytes of it.
 *  JSON escapes quotation marks in strings, so `RESULT` cannot match inside one. */
const withoutLongResult = (body: readonly Buffer[]): { readonly json: string; readonly digits: Buffer[] | null } => {
  // Not in the first part if that is tiny.
  const parts = body[0]?.includes(RESULT) ? body : [Buffer.concat(body)];
  const start = parts[0]!.indexOf(RESULT) + RESULT.length;
  const before = parts[0]!.subarray(0, start);
  const digits = [parts[0]!.subarray(start), ...parts.slice(1)];
  const last = digits.findIndex((part) => part.includes('"'));
  if (start < RESULT.length || last === -1) return { json: textOf(body), digits: null };
  const end = digits[last]!.indexOf('"');
  const after = [digits[last]!.subarray(end), ...digits.slice(last + 1)];
  const json = textOf([before, ...after]);
  return { json, digits: [...digits.slice(0, last), digits[last]!.subarray(0, end)] };
};

/** ASCII needs no decoding, and short strings are cheap to collect. */
const textOf = (parts: readonly Buffer[]): string =>
  parts.every((part) => isAscii(part))
    ? parts.map((part) => part.toString('latin1')).join('')
    : Buffer.concat(parts).toString();

interface Answer {
  readonly result: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | null;
}

const isAnswer = (value: unknown, id: number): value is Answer => {
  if (typeof value !== 'object' || value === null || !('id' in value) || value.id !== id) return false;
  const error = 'error' in value ? value.error : null;
  if (error === null) return 'result' in value;
  return (
    typeof error === 'object' &&
    'code' in error &&
    Number.isInteger(error.code) &&
    'message' in error &&
    typeof error.message === 'string'
  );
};

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
