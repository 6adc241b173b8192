import type { Client, Order, Payment } from '@cpg/sdk';
import { type DeliveryHeaders, verify, type WebhookEvent, WebhookVerificationError } from '@cpg/sdk/webhooks';
import { meaningOf, type Meaning } from '../meaning.ts';
import { ask } from '../outcome.ts';
import { reasonOf } from '../reason.ts';
import type { Store } from '../store.ts';
import { storedWebhook } from './registration.ts';

/** What a shop does with the present state of one of its orders. It may run twice and at once for the same order: it
 *  changes the shop in one transaction, and throws if it could not, so that the event comes again. */
export type OrderHandler = (order: Order, meaning: Meaning) => Promise<void>;

export interface ReceiveOptions {
  readonly client: Client;
  readonly store: Store;
  readonly shop: string;
  readonly onOrder: OrderHandler;
}

/** What became of a delivery. Answer it with `status`: the gateway sends it again unless that is 2xx. */
export interface Received {
  readonly status: 204 | 400 | 500 | 503;
  /** `handled`: the shop has it. `ignored`: of another shop, a test, or of no order. `forged`: not from the gateway, or
   *  too old. `not_ready`: the webhook is not registered yet. `unreachable`: the gateway could not be asked. `failed`:
   *  the handler threw. */
  readonly result: 'handled' | 'ignored' | 'forged' | 'not_ready' | 'unreachable' | 'failed';
  /** A sentence for the log. */
  readonly message: string;
  /** Why the handler threw. */
  readonly cause?: unknown;
}

/** Handles a delivery: verifies its signature on the raw body, reads the order at the gateway, and hands its present
 *  state to the shop. The body only says which order changed: it may be old, and money is never decided by it. */
export const receive = async (
  { client, store, shop, onOrder }: ReceiveOptions,
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
): Promise<Received> => {
  const webhook = await storedWebhook(store);
  if (!webhook) return { status: 503, result: 'not_ready', message: 'the webhook of this shop is not registered yet' };
  const event = verified(rawBody, headers, webhook.secret);
  if (event instanceof WebhookVerificationError) return { status: 400, result: 'forged', message: event.message };
  const subject = `${event.event} of ${event.data.id}`;
  if (!isOfShop(event, shop)) return ignored(`${subject} is not of the shop ${shop}`);

  const { id, payment } = subjectOf(event);
  const [order, more] = await Promise.all([
    ask(() => client.getOrder(id)),
    payment === undefined ? undefined : ask(() => client.getPayment(payment)),
  ]);
  for (const answer of [order, more]) {
    if (!answer || answer.ok) continue;
    const { code, message } = answer.fault;
    if (code === 'not_found') return ignored(`${subject} was deleted`);
    return { status: 503, result: 'unreachable', message: `${subject}: ${message}` };
  }
  if (!order.ok) throw new Error('unreachable');
  const payments: Payment[] = more?.ok ? [more.value] : [];
  return handOver(subject, order.value, payments, { shop, onOrder });
};

/** Gives an order of the shop to its handler. */
export const handOver = async (
  subject: string,
  order: Order,
  more: readonly Payment[],
  { shop, onOrder }: Pick<ReceiveOptions, 'shop' | 'onOrder'>,
): Promise<Received> => {
  if (order.metadata?.shop !== shop) return ignored(`${subject} is not of the shop ${shop}`);
  try {
    await onOrder(order, meaningOf(order, more));
    return { status: 204, result: 'handled', message: `${subject}: the order is ${order.status}` };
  } catch (cause) {
    const message = `${subject}: the shop could not take it: ${reasonOf(cause)}`;
    return { status: 500, result: 'failed', message, cause };
  }
};

const ignored = (message: string): Received => ({ status: 204, result: 'ignored', message });

const verified = (
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
  secret: string,
): WebhookEvent | WebhookVerificationError => {
  try {
    return verify(rawBody, headers, secret);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error;
    throw error;
  }
};

/** Two shops of one merchant may have each other's events for a moment, for example while a filter changes. Test events
 *  of a sandbox name no shop. */
const isOfShop = (event: WebhookEvent, shop: string): boolean => {
  const metadata = event.object_type === 'order' ? event.data.metadata : event.order?.metadata;
  return metadata?.shop === shop;
};

const subjectOf = (event: WebhookEvent): { readonly id: string; readonly payment?: string } =>
  event.object_type === 'order' ? { id: event.data.id } : { id: event.data.order_id, payment: event.data.id };
