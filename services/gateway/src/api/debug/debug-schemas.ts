import {
  AdvanceTimeCall,
  AmountDto,
  EXAMPLE_IDS,
  exampleOf,
  Order,
  PaymentCurrency,
  PaymentRail,
  requestText,
  TestDelivery,
  WebhookEventType,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { NoBody, pathId } from '../ids.ts';

export const TestWebhookBody = withExample(
  z.strictObject({
    webhook_id: requestText(0, 256).describe('The webhook: `whk_` and a ULID.'),
    event_type: WebhookEventType.describe('The type of the event.'),
  }),
  { webhook_id: EXAMPLE_IDS.webhook, event_type: 'order:paid' },
);

export const AdvanceTimeBody = withExample(z.strictObject(AdvanceTimeCall.shape), { minutes: 61 });

/** The decision of the rail about a simulated payment. */
export const SimulatedOutcome = z.enum(['confirmed', 'pending', 'failed']);

export const RegisterPaymentBody = withExample(
  z.strictObject({
    order_id: requestText(0, 256).describe('The order that is paid.'),
    payment_rail: PaymentRail.describe('How it is paid. The order must have this rail.'),
    amount: AmountDto.describe('The amount that is paid.'),
    currency: PaymentCurrency.describe('The currency.'),
    txHash: requestText(1, 256)
      .optional()
      .describe(
        'Identifies the payment on its rail: the same hash is the same payment. A random hash is used by default.',
      ),
    outcome: SimulatedOutcome.optional().describe(
      '`confirmed` (the default): the rail has confirmed the payment. `pending`: the rail has seen the payment and not yet confirmed it; its status is `received`. `failed`: the rail has seen the payment and then dropped it.',
    ),
  }),
  { order_id: EXAMPLE_IDS.order, payment_rail: 'crypto_deposit', amount: '52.4722', currency: 'USDC' },
);

export const FailPaymentBody = withExample(
  z.strictObject({
    reason: requestText(1, 256)
      .optional()
      .describe(
        'The value for `failure_reason`. By default, `dropped` for a received payment and `reorg` for an applied one.',
      ),
  }),
  { reason: 'reorg' },
);

const params = pathId('payment');
const tags = ['Sandbox'];

export const registerPayment = {
  operationId: 'registerPayment',
  summary: 'Simulate a payment',
  description:
    'Acts as if the rail had seen this payment, and then confirmed or dropped it as `outcome` says. The same hash with the same body is the same payment. The same hash with another amount or order returns 409 `payment_conflict`, and a rail that the order does not enable 409 `rail_not_enabled`. To confirm or drop a pending payment, send its hash again with that `outcome`, or use the operations below. The hash of a failed payment again, `confirmed` or `pending`, acts as if the rail had seen the same money once more, for example after a chain reorganization: the payment is `received` again, and an order that was `reversed` becomes `paid` when the payment is confirmed.',
  tags,
  body: RegisterPaymentBody,
  response: { 201: Order },
};

export const confirmPayment = {
  operationId: 'confirmPayment',
  summary: 'Confirm a pending payment',
  description:
    'Acts as if the rail had confirmed the payment. The order then applies the payment, holds it, or marks it as an orphan. Confirming it again changes nothing. Returns 409 `payment_conflict` if the payment has failed: register it again.',
  tags,
  params,
  body: NoBody,
  response: { 201: Order },
};

export const failPayment = {
  operationId: 'failPayment',
  summary: 'Drop or reverse a payment',
  description:
    'Acts as if the rail had dropped a `received` payment or reversed an `applied` or `orphan` one, for example after a chain reorganization or a reversal by the provider. Reversing a payment of a paid order makes the order `reversed`; a new payment, or the same one registered again, can pay it. If the order has `already_paid` orphans that are enough, it takes them and is `paid` again at once. Repeating the request changes nothing. Returns 409 `payment_conflict` for a refunded payment.',
  tags,
  params,
  body: FailPaymentBody.optional(),
  response: { 201: Order },
};

export const advanceTime = {
  operationId: 'advanceTime',
  summary: 'Advance the clock of an order',
  description:
    'Acts as if `minutes` had passed for this order: its deadline comes closer and its rates get older. If the order becomes due, it expires or is renewed with new rates immediately; it is renewed at most once per request. Each request advances the clock again. Returns 409 `order_state_conflict` if the order is not open.',
  tags,
  params: pathId('order'),
  body: AdvanceTimeBody,
  response: { 201: Order },
};

export const SentTest = withExample(
  TestDelivery.extend({
    is_enabled: z.boolean().describe('Whether the webhook is enabled. While it is not, no real event comes.'),
    is_subscribed: z.boolean().describe('Whether the webhook is subscribed to events of this type.'),
  }),
  { ...exampleOf(TestDelivery), is_enabled: true, is_subscribed: true },
);

export const testWebhook = {
  operationId: 'testWebhook',
  summary: 'Send a test event to a webhook',
  description:
    'Sends a sample event, also to a webhook that is disabled or not subscribed to it: `is_enabled` and `is_subscribed` say whether a real event would come. Its `data.metadata` contains `"test": true`.',
  tags,
  body: TestWebhookBody,
  response: { 201: SentTest },
};
