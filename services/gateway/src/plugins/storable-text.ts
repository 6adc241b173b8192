import type { FaultDetail } from '@cpg/core';
import { invalidRequest } from '@cpg/runtime';
import type { FastifyInstance } from 'fastify';

const MAX_DEPTH = 32;

/** Refuses input that PostgreSQL or the event store cannot hold: NUL characters, lone surrogates and deep nesting. */
export const rejectUnstorableText = (app: FastifyInstance): void => {
  app.addHook('preValidation', async (request) => {
    const detail = findUnstorable(request.query, []) ?? findUnstorable(request.body, []);
    if (detail) throw invalidRequest([detail]);
  });
};

/** The first part of a JSON value that cannot be stored, or null. */
export const findUnstorable = (value: unknown, path: readonly string[]): FaultDetail | null => {
  if (typeof value === 'string')
    return isStorable(value) ? null : detailAt(path, 'must be text without NUL characters');
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return detailAt(path.slice(0, 3), `is nested more than ${MAX_DEPTH} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return detailAt(path, 'must not have NUL characters in a field name');
    const nested = findUnstorable(inner, [...path, key]);
    if (nested) return nested;
  }
  return null;
};

const isStorable = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text);

const LONE_SURROGATE = /\p{Surrogate}/u;

const detailAt = (path: readonly string[], message: string): FaultDetail => ({
  path: path.join('.') || 'body',
  message,
});
