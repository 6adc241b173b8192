import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { AppError, invalidRequest, MAX_FAULT_DETAILS } from '@cpg/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { MAX_DEPTH } from './storable-text.ts';

/** Accepts uncompressed JSON bodies only. An empty body counts as no body, whatever its content type: many clients send
 *  `content-type: application/json` with every request, and `curl -d ''` sends a form. */
export const acceptJsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    body.length === 0 ? undefined : parseBody(body),
  );
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async ({ headers }: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return;
    const type = headers['content-type']?.split(';')[0]?.slice(0, 64) ?? 'of no type';
    throw new AppError(
      'unsupported_media_type',
      `the body is ${type}: send JSON with the header content-type: application/json`,
    );
  });
  // Fastify validates `null` and an absent body alike. An absent body of a refund means the whole surplus: `null` must
  // not. Generated clients send it where the document needs no body, and there it is none.
  app.addHook('preValidation', async ({ body, routeOptions: { schema } }) => {
    const expected = schema?.body as z.ZodType | undefined;
    if (body === null && expected?.safeParse(null).success === false)
      throw invalidRequest([{ path: 'body', message: 'is null: send a JSON object' }]);
  });
  app.addHook('preParsing', async ({ headers }, reply) => {
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    // Fastify refuses a malformed content type even if there is no body.
    if (!hasBody) delete headers['content-type'];
    const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
    if (encoding === 'identity') return;
    reply.header('accept-encoding', 'identity');
    throw new AppError(
      'unsupported_media_type',
      `the body has the content-encoding ${encoding}: send it uncompressed, without content-encoding`,
    );
  });
};

const parseBody = (body: Buffer): unknown => {
  // NUL bytes are valid UTF-8, but never part of JSON: the text is UTF-16 or UTF-32.
  if (!isUtf8(body) || body.includes(0)) {
    throw invalidRequest([{ path: 'body', message: 'is not UTF-8 text: encode the JSON as UTF-8' }]);
  }
  return parseExactJson(body.toString('utf8').replace(/^\ufeff/, ''));
};

// Strings come first, so that digits inside a string are not taken for a number.
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

// Every number with fewer digits is exact: a double holds 15 significant digits, and exponents up to 307.
const ALWAYS_EXACT = /^-?[\d.]{1,15}(?:[eE][+-]?\d\d?)?$/;

/** Parses JSON. Refuses text that is not JSON, and numbers that a double would change: JSON.parse turns
 *  12345678901234567890 into 12345678901234567000 without a word. */
export const parseExactJson = (text: string): unknown => {
  const value = parse(text);
  const changed = (token: string) => !token.startsWith('"') && !isExact(token);
  if (!text.match(STRING_OR_NUMBER)?.some(changed)) return value;
  // Finds the paths of these numbers: parses again, with marked strings in their places.
  const mark = randomBytes(16).toString('hex');
  const marked = text.replace(STRING_OR_NUMBER, (token) => (changed(token) ? `"${mark}${token}"` : token));
  const numbers: MarkedNumber[] = [];
  findMarked(parse(marked), mark, [], numbers);
  throw invalidRequest(numbers.map(([path, number]) => ({ path, message: tooPrecise(number) })));
};

const tooPrecise = (number: string): string =>
  `${number.length > 40 ? 'the number' : number} does not fit a 64-bit floating-point number: send it as a string`;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const place = position === undefined ? '' : `, at character ${Number(position) + 1}`;
    throw invalidRequest([{ path: 'body', message: `is not valid JSON${place}` }]);
  }
};

/** Whether a double has exactly this value when it is printed with the fewest digits that identify it. */
const isExact = (token: string): boolean =>
  ALWAYS_EXACT.test(token) || significand(token) === significand(String(Number(token)));

/** The digits of a decimal number without leading and trailing zeros, and the exponent of the last digit. */
const significand = (number: string): string => {
  const match = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number);
  if (!match) return number;
  const [, whole, fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = digits.replace(/(?<!0)0+$/, '');
  if (trimmed === '') return '0';
  return `${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
};

type MarkedNumber = [path: string, number: string];

/** Adds path and number of the first marked strings to `found`. Paths end where nesting gets too deep to be
 *  accepted. */
const findMarked = (value: unknown, mark: string, path: readonly string[], found: MarkedNumber[]): void => {
  // Each path can be as long as the body.
  if (found.length >= MAX_FAULT_DETAILS) return;
  if (typeof value === 'string') {
    if (value.startsWith(mark)) found.push([path.join('.') || 'body', value.slice(mark.length)]);
  } else if (typeof value === 'object' && value !== null) {
    if (path.length >= MAX_DEPTH) found.push([path.slice(0, 3).join('.'), 'a number']);
    else for (const [key, inner] of Object.entries(value)) findMarked(inner, mark, [...path, key], found);
  }
};
