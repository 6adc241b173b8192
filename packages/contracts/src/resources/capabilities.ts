import { z } from 'zod';

/** What may happen to an order. */
export const Capabilities = z.object({
  can_cancel: z.boolean().describe('Whether the order can be canceled.'),
  can_update: z.boolean().describe('Whether the order can be changed by PATCH.'),
  can_overpay: z
    .boolean()
    .describe('Whether a payment of more than remains is applied in full. If not, the surplus is due for refund.'),
  partial_payments: z
    .boolean()
    .describe(
      'Whether payments of less than remains are applied. If not, they are held until all of them settle the order.',
    ),
  express_checkout: z
    .boolean()
    .describe('Whether the hosted payment page goes straight to the instructions of the first rail.'),
  expiration_auto_renewal: z
    .boolean()
    .describe('Whether the order gets new rates and a new deadline instead of expiring, at most 24 times.'),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** The capabilities in a request. */
export const CapabilitiesDto = z.strictObject(Capabilities.shape);

export const CAPABILITIES_EXAMPLE: Capabilities = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};
