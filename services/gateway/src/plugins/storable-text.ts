import type { FaultDetail } from '@cpg/core';
import { invalidRequest } from '@cpg/runtime';
import type { FastifyInstance } from 'fastify';

const MAX_DEPTH = 32;

/** Refuses what no store behind the API can keep: NUL characters, halves of surrogate pairs, and nesting without end. */
export const refuseUnstorableText = (app: FastifyInstance): void => {
  app.addHook('preValidation', async (request) => {
    const fault = faultIn(request.query, []) ?? faultIn(request.body, []);
    if (fault) throw invalidRequest([fault]);
  });
};

/** The first thing in a JSON value that cannot be stored, or null. */
export const faultIn = (value: unknown, path: readonly string[]): FaultDetail | null => {
  if (typeof value === 'string') return isStorable(value) ? null : fault(path, 'must be text without NUL characters');
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return fault(path.slice(0, 3), `is nested more than ${MAX_DEPTH} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return fault(path, 'must not have NUL characters in a name');
    const found = faultIn(inner, [...path, key]);
    if (found) return found;
  }
  return null;
};

const isStorable = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text);

const LONE_SURROGATE = /\p{Surrogate}/u;

const fault = (path: readonly string[], message: string): FaultDetail => ({ path: path.join('.') || 'body', message });
