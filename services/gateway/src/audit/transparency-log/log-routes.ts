import { AppError } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { parseTileName, tileSlice } from '@cpg/transparency-log';
import type { FastifyInstance } from 'fastify';
import { cached } from '../../checkout/looks.ts';
import { readCheckpoint, tilesIn } from './log-tables.ts';

const hidden = { schema: { hide: true }, compress: false } as const;

/** Serves the transparency log by C2SP tlog-tiles, below `/audit`. It needs no key: who has only hashes of salted
 *  events learns how many there are, and nothing else. */
export const transparencyLogRoutes = (app: FastifyInstance, { pool }: { readonly pool: Queryable }): void => {
  app.get('/audit/checkpoint', hidden, async (_, reply) => {
    const checkpoint = await readCheckpoint(pool);
    if (checkpoint === null) throw new AppError('not_found', 'no checkpoint of the event store was signed yet');
    return reply
      .header('cache-control', 'no-cache')
      .type('text/plain; charset=utf-8')
      .serializer((text: string) => text)
      .send(checkpoint);
  });
  app.get<{ Params: { '*': string } }>('/audit/tile/*', hidden, async ({ params }, reply) => {
    const name = parseTileName(params['*']);
    const hashes = name && tileSlice(await tilesIn(pool)(name.level, name.index), name);
    if (!hashes) throw new AppError('not_found', `the log has no tile ${params['*']}`);
    // A tile of this name never changes.
    return cached(reply).type('application/octet-stream').send(hashes);
  });
};
