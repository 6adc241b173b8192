import { ProviderCallbackCall, RecordedProviderPayment } from '@cpg/contracts';
import { readCallContext } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ReceiveCallback } from './callbacks.ts';

export interface ProviderRoutes {
  readonly receiveCallback: ReceiveCallback;
}

const config = { callers: ['gateway'] } as const;
const schema = {
  params: z.object({ name: z.string() }),
  body: ProviderCallbackCall,
  response: { 200: RecordedProviderPayment },
};

/** The internal route of callbacks, which the gateway passes on. */
export const providerRoutes: FastifyPluginAsyncZod<ProviderRoutes> = async (app, { receiveCallback }) => {
  app.post('/providers/:name/callbacks', { config, schema }, (request) =>
    receiveCallback(request.params.name, request.body, readCallContext(request)),
  );
};
