import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callerOf } from '../../door/request.ts';
import { settlementCsv } from './settlement-csv.ts';
import { listSettlementLines, readBalances, settlementLinesIn } from './settlement.ts';
import * as schemas from './settlement-schemas.ts';

export interface SettlementRouteOptions {
  readonly pool: Pool;
  readonly now: () => Date;
}

const LIST = { scope: 'reports:self:read', isList: true } as const;

/** `/v1/reports/settlements` and `/v1/reports/balances`: the ledger of the merchant. */
export const settlementRoutes: FastifyPluginAsyncZod<SettlementRouteOptions> = async (app, { pool, now }) => {
  app.get('/reports/settlements', { config: LIST, schema: schemas.listSettlementLines }, (request) =>
    listSettlementLines(pool, callerOf(request).merchantId, request.query),
  );

  app.get('/reports/settlements.csv', { config: LIST, schema: schemas.exportSettlements }, async (request, reply) => {
    const { merchantId } = callerOf(request);
    const lines = await settlementLinesIn(pool, { merchantId, query: request.query });
    const { from, to } = request.query;
    // Fastify follows a stream by listeners of its own, beside those of the hooks of every response.
    reply.raw.setMaxListeners(20);
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="settlements_${from}_${to}.csv"`)
      .send(settlementCsv(lines) as never);
  });

  app.get('/reports/balances', { config: LIST, schema: schemas.getBalances }, (request) =>
    readBalances(pool, callerOf(request).merchantId, request.query.at ?? now()),
  );
};
