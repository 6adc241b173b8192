import { invalidRequest, OWN_PROVIDERS, RefundClaim, RefundId, withExample } from '@cpg/contracts';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callContext, callerOf } from '../../door/request.ts';
import { orNotFound, parseId, pathId } from '../ids.ts';
import { orderById } from '../orders/order-queries.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { hashOfClaimToken, newClaimToken } from './claim-token.ts';
import { refundById } from './refund-routes.ts';

export const CreateRefundClaimBody = withExample(
  z.strictObject({
    show_on_page: z
      .boolean()
      .optional()
      .describe(
        'Whether the payment page of the order shows the link too. `false` by default, because everybody who has the `payment_url` could then choose where the money goes. Use it only if your payer alone has that URL.',
      ),
  }),
  { show_on_page: false },
);

/** `POST /v1/refunds/{id}/claim`. The payments service decides; the token of the link is known here alone. */
export const refundClaimRoutes: FastifyPluginAsyncZod<{ payments: PaymentsClient; pool: Pool }> = async (
  app,
  { payments, pool },
) => {
  app.post(
    '/refunds/:id/claim',
    {
      config: { scope: 'payments:self:refund', shows: 'refund', responseHasSecret: true },
      schema: {
        operationId: 'createRefundClaim',
        summary: 'Ask the payer for the address of a refund',
        description:
          'Creates a link for the payer of a `pending` refund with `settle: "on_chain"` that has no `destination`. The payer enters an address there, which is checked, and confirms it once. Then the refund has `destination`, the webhook event `payment:refund_claimed` is sent, and `POST /v1/refunds/{id}/request` returns what to send. Send the link to the payer alone: whoever has it decides who gets the money. It works for 30 days and is shown only in this response. Another call creates another link, and the earlier one ends; a refund can have 20. Returns 409 `payment_conflict` if the refund is not `pending` or has a `destination`.',
        tags: ['Payments'],
        params: pathId('refund'),
        body: CreateRefundClaimBody.optional(),
        response: { 200: RefundClaim },
      },
    },
    async (request) => {
      const id = parseId(RefundId, 'refund', request.params.id);
      const { merchantId: merchant_id } = callerOf(request);
      const show_on_page = request.body?.show_on_page ?? false;
      if (show_on_page) await requirePage(pool, merchant_id, id);
      const token = newClaimToken();
      const call = { merchant_id, token_hash: hashOfClaimToken(token)!, show_on_page };
      const { refund, public_url } = await payments.issueRefundClaim(id, call, callContext(request));
      return { claim_url: `${public_url}/pay/refunds/${token}`, refund };
    },
  );
};

/** Outside providers have pages of their own. */
const requirePage = async (db: Queryable, merchantId: string, refundId: string): Promise<void> => {
  const refund = orNotFound('refund', await refundById(db, merchantId, refundId));
  const order = await orderById(db, merchantId, refund.order_id);
  const hasPage = order?.deposit_instructions.some(
    (instruction) => instruction.rail === 'gateway_pay' && OWN_PROVIDERS.includes(instruction.provider),
  );
  if (hasPage) return;
  throw invalidRequest([
    {
      path: 'show_on_page',
      message: 'needs an order with a payment page of this gateway: leave it out, and send the link yourself',
    },
  ]);
};
