import { ProviderPayment, RecordedProviderPayment } from '@cpg/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { callContext } from '../../door/request.ts';

const reportPayment = {
  operationId: 'reportProviderPayment',
  summary: 'Report a payment of an outside provider',
  description:
    'For the payment providers that the operator of this gateway has configured. Reports a payment that the provider guarantees. The same `external_reference_id` is the same payment: a repeat changes nothing, and a repeat with another order, amount or currency returns 409. Returns 200 when the payment is recorded for its order, and 202 when it is recorded as an `orphan`, because the order does not exist.',
  tags: ['Providers'],
  params: z.object({ provider: z.string().describe('The name of the provider.') }),
  headers: z.object({
    'x-provider-timestamp': z.string().optional().describe('Seconds since 1970, at most 5 minutes from now.'),
    'x-provider-signature': z
      .string()
      .optional()
      .describe('`v1=` and the HMAC-SHA256, in hex, of the timestamp, a dot and the body, with the shared secret.'),
  }),
  body: ProviderPayment,
  response: { 200: RecordedProviderPayment, 202: RecordedProviderPayment },
};

/** `POST /v1/providers/{provider}/payments`. Payments verifies the signature of the body, so it is passed on as it
 *  arrived, before anything parses it. */
export const providerPaymentRoutes: FastifyPluginAsyncZod<{ payments: PaymentsClient }> = async (app, { payments }) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  // The schema only documents the body.
  app.setValidatorCompiler(() => (value: unknown) => ({ value }));

  app.post('/providers/:provider/payments', { schema: reportPayment }, async (request, reply) => {
    const { 'x-provider-timestamp': timestamp, 'x-provider-signature': signature } = request.headers;
    const body = request.body as unknown as Buffer | undefined;
    const call = { timestamp, signature, body_base64: (body ?? Buffer.alloc(0)).toString('base64') };
    const recorded = await payments.receiveCallback(request.params.provider, call, callContext(request));
    return reply.code(recorded.has_order ? 200 : 202).send(recorded);
  });
};
