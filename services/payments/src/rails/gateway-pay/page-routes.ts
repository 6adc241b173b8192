import { PaymentPageAddresses } from '@cpg/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PageAddresses } from './page-addresses.ts';

export interface PageRoutes {
  readonly pageAddresses: PageAddresses;
}

const config = { callers: ['gateway'] } as const;
const schema = { params: z.object({ reference: z.string() }), response: { 200: PaymentPageAddresses } };

/** The internal route of payment pages, which the gateway serves. */
export const pageRoutes: FastifyPluginAsyncZod<PageRoutes> = async (app, { pageAddresses }) => {
  app.get('/pages/:reference', { config, schema }, (request) => pageAddresses(request.params.reference));
};
