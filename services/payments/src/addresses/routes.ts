import { DepositSettingsCall, DepositSettingsView, MerchantId } from '@cpg/contracts';
import { readCallContext } from '@cpg/platform';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { DepositSettingsOf } from './merchant-settings.ts';

const Merchant = z.object({ id: MerchantId });

/** Internal routes: the accounts and confirmations of a merchant. */
export const depositSettingsRoutes: FastifyPluginAsyncZod<{ depositSettings: DepositSettingsOf }> = async (
  app,
  { depositSettings },
) => {
  const path = '/merchants/:id/deposit-settings';
  const response = { 200: DepositSettingsView };
  const config = { callers: ['admin'] } as const;
  app.get(path, { config, schema: { params: Merchant, response } }, (request) =>
    depositSettings.show(request.params.id),
  );
  app.post(path, { config, schema: { params: Merchant, body: DepositSettingsCall, response } }, (request) =>
    depositSettings.change(request.params.id, request.body, readCallContext(request)),
  );
};
