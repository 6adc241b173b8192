import type { components } from '../generated/api.ts';

type Schemas = components['schemas'];

/** A verified event. Amounts are decimal strings, times ISO 8601 in UTC. The gateway may add fields and event types:
 *  ignore those that you do not know. */
export type WebhookEvent = OrderEvent | PaymentEvent;

export type WebhookEventType = WebhookEvent['event'];

interface EventBase {
  /** `evt_...`, the same on every attempt, redelivery and replay. Store it to process each event once. */
  readonly id: string;
  /** The number of the event on its order or payment; a higher one is newer, and two events never share one. Undefined
   *  if a proxy removed the header `x-sequence`. It is not signed: use it only to ignore an older state. */
  readonly sequence: number | undefined;
}

/** `data` is the order as it was right after the event. */
export type OrderEvent = EventBase & Readonly<Schemas['OrderWebhookPayload']>;

/** `data` is the payment as it was right after the event. */
export type PaymentEvent = EventBase & Readonly<Schemas['PaymentWebhookPayload']>;

export type Order = Schemas['Order'];
export type Payment = Schemas['Payment'];
export type Refund = Schemas['Refund'];
export type Item = Schemas['Item'];
export type Line = Schemas['Modifier'];
export type Capabilities = Schemas['Capabilities'];
export type Rate = Schemas['Rate'];
export type DepositInstruction = Schemas['DepositInstruction'];
export type CryptoDepositInstruction = Schemas['CryptoDepositInstruction'];
export type GatewayPayInstruction = Schemas['GatewayPayInstruction'];
export type Rail = Payment['payment_rail'];
export type PaymentCurrency = Payment['currency'];
export type ItemCurrency = Item['currency'];
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
