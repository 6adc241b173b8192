import { type FaultDetail, invalidRequest } from '@cpg/contracts';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters that may be given more than once. */
    repeatable?: readonly string[];
  }
}

/** The most levels that a JSON value may be nested. */
export const MAX_DEPTH = 32;

/** Refuses input that PostgreSQL or the event store cannot hold: text that is not UTF-8, NUL characters, lone
 *  surrogates and deep nesting. Refuses also field names that JavaScript gives a meaning, and repeated query
 *  parameters, except those that the route allows. */
export const rejectUnstorableText = (app: FastifyInstance): void => {
  app.addHook('preValidation', async ({ url, query, body, routeOptions }) => {
    const { repeatable = [] } = routeOptions.config;
    const detail =
      findMisencoded(url) ?? findRepeated(query, repeatable) ?? findUnstorable(query) ?? findUnstorable(body);
    if (detail) throw invalidRequest([detail]);
  });
};

/** The first query parameter that is not UTF-8, or null. The query parser keeps such text as it is. */
const findMisencoded = (url: string): FaultDetail | null => {
  const query = url.split('?')[1] ?? '';
  for (const parameter of query.split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch {
      return { path: parameter.split('=')[0] || 'query', message: 'must be UTF-8, percent-encoded' };
    }
  }
  return null;
};

/** The first query parameter that is given more than once, or null. */
const findRepeated = (query: unknown, repeatable: readonly string[]): FaultDetail | null => {
  const repeated = Object.entries(query ?? {}).find(
    ([name, value]) => Array.isArray(value) && !repeatable.includes(name),
  );
  return repeated ? { path: repeated[0], message: 'must be given only once' } : null;
};

/** The first part of a JSON value that cannot be stored, or null. */
export const findUnstorable = (value: unknown): FaultDetail | null => findIn(value, []);

/** Where a value is in the body. One array for all values: a body can have 800,000. */
type Path = (string | number)[];

const findIn = (value: unknown, path: Path): FaultDetail | null => {
  if (typeof value === 'string') {
    const fault = faultIn(value);
    return fault === null ? null : detailAt(path, `must not contain ${fault}`);
  }
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return detailAt(path.slice(0, 3), `is nested more than ${MAX_DEPTH} levels deep`);
  return Array.isArray(value) ? findInArray(value, path) : findInObject(value, path);
};

const findInArray = (values: readonly unknown[], path: Path): FaultDetail | null => {
  const depth = path.length;
  for (let index = 0; index < values.length; index += 1) {
    path[depth] = index;
    const detail = findIn(values[index], path);
    if (detail) return detail;
  }
  path.length = depth;
  return null;
};

const findInObject = (fields: object, path: Path): FaultDetail | null => {
  const depth = path.length;
  for (const key of Object.keys(fields)) {
    const fault = faultIn(key);
    if (fault !== null) return detailAt(path.slice(0, depth), `must not contain ${fault} in a field name`);
    const isNotAllowed = isReserved(key, path[depth - 1]);
    path[depth] = key;
    if (isNotAllowed) return detailAt(path, 'is a field name that is not allowed');
    const detail = findIn((fields as Record<string, unknown>)[key], path);
    if (detail) return detail;
  }
  path.length = depth;
  return null;
};

const faultIn = (text: string): string | null => {
  if (text.includes('\0')) return 'NUL characters';
  const surrogate = LONE_SURROGATE.exec(text)?.[0];
  return surrogate === undefined
    ? null
    : `the lone surrogate \\u${surrogate.charCodeAt(0).toString(16)} (half of a character)`;
};

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Names that change the prototype of an object when code copies fields. */
const isReserved = (key: string, parent: string | number | undefined): boolean =>
  key === '__proto__' || (key === 'prototype' && parent === 'constructor');

const detailAt = (path: Readonly<Path>, message: string): FaultDetail => ({
  path: path.join('.') || 'body',
  message,
});
