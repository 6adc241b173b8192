import { OrderMessage, PaymentMessage } from '@cpg/sdk/events';

/** One transaction of your database. */
export interface Transaction {
  /** The number of the last message that was handled for this order or payment; undefined for none. */
  lastSequence(subject: string): Promise<bigint | undefined>;
  saveSequence(subject: string, sequence: bigint): Promise<void>;
  isDeleted(orderId: string): Promise<boolean>;
  /** Deletes the copies of the order and of its payments, and remembers its id for good. */
  deleteOrder(orderId: string): Promise<void>;
  saveCopy(subject: string, orderId: string, resource: object): Promise<void>;
}

/** Keeps copies of orders and payments. Call it with the value of each message of `orders.v1` and `payments.v1`, and
 *  commit the offset after the transaction. It may be called again with the same message. A value that throws a
 *  ZodError can never be handled: put it into a dead-letter topic of your own. */
export async function handle(
  value: string,
  inTransaction: (work: (transaction: Transaction) => Promise<void>) => Promise<void>,
): Promise<void> {
  const json: unknown = JSON.parse(value);
  const message = isOfOrders(json) ? OrderMessage.parse(json) : PaymentMessage.parse(json);
  const { subject, orderid, sequence } = message;
  await inTransaction(async (transaction) => {
    // Delivery is at least once: `sequence` counts the events of one subject, so an equal or lower one is a repeat.
    const last = await transaction.lastSequence(subject);
    if (last !== undefined && BigInt(sequence) <= last) return;
    await transaction.saveSequence(subject, BigInt(sequence));

    if (message.type === 'order.deleted') return transaction.deleteOrder(orderid);
    // The topics have no common order: a message of a payment can come after the deletion of its order.
    if (await transaction.isDeleted(orderid)) return;

    // A message of a type that this version does not know may have another form.
    const resource: unknown = message.data.resource;
    if (typeof resource !== 'object' || resource === null) return;
    await transaction.saveCopy(subject, orderid, resource);
    if (message.type === 'order.paid') notify(message.data.resource.status, orderid);
  });
}

const isOfOrders = (json: unknown) => (json as { source?: unknown } | null)?.source === '/orders';

/** Values that this version does not know are passed on as they are: always have a `default`. */
function notify(status: string, orderId: string): void {
  switch (status) {
    case 'paid':
      console.log(`${orderId} is paid`);
      break;
    default:
      console.log(`${orderId} is ${status}`);
  }
}
