import { timingSafeEqual } from 'node:crypto';
import { INTERNAL_HEADERS } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { FastifyRequest } from 'fastify';
import type { AnyApp } from './any-app.ts';

/** Rejects every request without the token that the services share, with 401. */
export const requireInternalToken = (app: AnyApp, token: string): void => {
  const expected = Buffer.from(`Bearer ${token}`);
  app.addHook('onRequest', async (request: FastifyRequest) => {
    const given = Buffer.from(request.headers[INTERNAL_HEADERS.authorization] ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new AppError('unauthorized', 'calls between services must carry INTERNAL_TOKEN');
    }
  });
};
