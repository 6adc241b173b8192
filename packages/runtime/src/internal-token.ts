import { timingSafeEqual } from 'node:crypto';
import { INTERNAL_HEADERS } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';

/** Rejects every request without one of the tokens that the services share, with 401. */
export const requireInternalToken = (app: AnyApp, tokens: string | readonly string[]): void => {
  const expected = [tokens].flat().map((token) => Buffer.from(`Bearer ${token}`));
  app.addHook('onRequest', async (request: FastifyRequest) => {
    const given = Buffer.from(request.headers[INTERNAL_HEADERS.authorization] ?? '');
    if (!expected.some((known) => known.length === given.length && timingSafeEqual(known, given))) {
      throw new AppError('unauthorized', 'calls between services must carry INTERNAL_TOKEN');
    }
  });
};
