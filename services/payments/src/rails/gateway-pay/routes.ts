import { ProviderCallbackCall, ProvidersWaiting, ProvidersWaitingCall, RecordedProviderPayment } from '@cpg/contracts';
import { readCallContext } from '@cpg/platform';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ReceiveCallback } from './callbacks.ts';
import type { AskLast } from './last-queries.ts';

export interface ProviderRoutes {
  readonly receiveCallback: ReceiveCallback;
  readonly askLast: AskLast;
}

const config = { callers: ['gateway'] } as const;
const schema = {
  params: z.object({ name: z.string() }),
  body: ProviderCallbackCall,
  response: { 200: RecordedProviderPayment },
};

/** The internal routes of outside providers: callbacks, which the gateway passes on, and the last question of orders. */
export const providerRoutes: FastifyPluginAsyncZod<ProviderRoutes> = async (app, { receiveCallback, askLast }) => {
  app.post('/providers/:name/callbacks', { config, schema }, (request) =>
    receiveCallback(request.params.name, request.body, readCallContext(request)),
  );

  app.post(
    '/providers/waiting',
    { config: { callers: ['orders'] }, schema: { body: ProvidersWaitingCall, response: { 200: ProvidersWaiting } } },
    async (request) => ({ waiting_for: await askLast(request.body.references, readCallContext(request)) }),
  );
};
