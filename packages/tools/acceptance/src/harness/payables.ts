import type { Order } from '@cpg/contracts';
import { OrderEvent, RegisteredPayment } from '@cpg/contracts';
import { type EventStoreDBClient, START } from '@eventstore/db-client';
import type { StackFiles } from './stack-files.ts';

/** Where an order says that it can be paid: `network/address` and `provider/reference`. */
export const payablesIn = ({ deposit_instructions }: Order): string[] =>
  deposit_instructions.map((instruction) =>
    instruction.rail === 'crypto_deposit'
      ? `${instruction.network}/${instruction.address}`
      : `${instruction.provider}/${instruction.payment_reference}`,
  );

/** The orders that show each address and each reference, from the log of the event store. */
export const recordedPayables = async (client: EventStoreDBClient): Promise<Map<string, Set<string>>> => {
  const orders = new Map<string, Set<string>>();
  const events = client.readAll({ fromPosition: START, direction: 'forwards' });
  for await (const { event } of events) {
    if (!event?.streamId.startsWith('order-')) continue;
    const { type, data } = OrderEvent.parse({ type: event.type, data: event.data });
    if (type !== 'OrderCreated' && type !== 'OrderInstructed') continue;
    for (const instruction of data.instructions ?? []) {
      const payable =
        instruction.rail === 'crypto_deposit'
          ? `${instruction.network}/${instruction.address}`
          : `${instruction.provider}/${instruction.paymentReference}`;
      orders.set(payable, (orders.get(payable) ?? new Set()).add(event.streamId.slice('order-'.length)));
    }
  }
  return orders;
};

/** Reports money at an address to payments of a sandbox, as its gateway does for simulated payments. Null when there is no answer to rely on:
 *  then a watcher reports it again. */
export const reportDeposit = async (
  { environment }: StackFiles,
  deposit: {
    readonly address: string;
    readonly amount: string;
    readonly currency: string;
    readonly provider_id: string;
  },
): Promise<RegisteredPayment | null> => {
  const answer = await fetch(`${environment.PAYMENTS_URL}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${environment.GATEWAY_TO_PAYMENTS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...deposit, rail: 'crypto_deposit', confirmed: true }),
  }).catch(() => null);
  if (!answer || answer.status === 503) return null;
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`the deposit was answered ${answer.status}: ${text}`);
  return RegisteredPayment.parse(JSON.parse(text));
};
