import { AppError } from '@cpg/core';
import { isDatabaseOutage } from '@cpg/postgres';
import type { FastifyError, FastifyInstance } from 'fastify';

// A schema or table that a service has yet to migrate.
const NOT_THERE_YET = new Set(['3F000', '42P01']);

/** Turns what goes wrong while the database is away into 503, for every route of `app`. */
export const reportOutages = (app: FastifyInstance): void => {
  app.setErrorHandler((error: FastifyError) => {
    if (isDatabaseOutage(error) || NOT_THERE_YET.has(error.code)) {
      throw new AppError('dependency_unavailable', 'the database is not available right now: try again', {
        cause: error,
      });
    }
    throw error;
  });
};
