import { OrderId, type RecordedEntry } from '@cpg/contracts';
import { newContext } from '@cpg/platform';
import { clampedIsoString, type ReadHistory } from '../api/orders/order-history.ts';
import type { OrdersClient } from '../api/orders/orders-client.ts';
import { AdminError, parseInstant } from './command.ts';

export const AUDIT_USAGE = `  audit history ORDER [--json]                   print all events of an order and its payments; --json: one JSON object per line
  audit at ORDER TIME                            print the order as it was at this time`;

export interface AuditOptions {
  readonly orders: Pick<OrdersClient, 'at'>;
  readonly readHistory: ReadHistory;
  readonly print: (line: string) => Promise<void>;
}

/** Runs `audit history` or `audit at` against the services that own the event streams. Throws AdminError for expected
 *  failures. */
export const runAudit = async (args: readonly string[], options: AuditOptions): Promise<void> => {
  const asJson = args.includes('--json');
  const [verb, order, time, ...rest] = args.filter((arg) => arg !== '--json');
  if (rest.length > 0 || order === undefined) throw new AdminError(AUDIT_USAGE);
  const orderId = parseOrderId(order);
  if (verb === 'history' && time === undefined) return printHistory(orderId, asJson, options);
  if (verb === 'at' && time !== undefined && !asJson) return printState(orderId, parseInstant(time), options);
  throw new AdminError(AUDIT_USAGE);
};

const printHistory = async (orderId: string, asJson: boolean, { readHistory, print }: AuditOptions): Promise<void> => {
  let after: string | undefined;
  for (let more = true; more;) {
    const page = await readHistory(orderId, after, context());
    for (const { message } of page.messages) await print(asJson ? JSON.stringify(message) : formatEvent(message));
    after = page.messages.at(-1)?.place;
    if (after === undefined) throw new AdminError(`order ${orderId} has no recorded events`);
    more = page.more;
  }
};

const printState = async (orderId: string, time: Date, { orders, print }: AuditOptions): Promise<void> => {
  const order = await orders.at(orderId, clampedIsoString(time), context());
  if (!order)
    throw new AdminError(`order ${orderId} did not exist at ${time.toISOString()}, or has been deleted since`);
  await print(JSON.stringify(order, null, 2));
};

const formatEvent = ({ at, stream, sequence, type, actor, request_id, data }: RecordedEntry): string =>
  `${at}  ${stream} #${sequence}  ${type}  by ${actor} in ${request_id}\n    ${JSON.stringify(data)}`;

const parseOrderId = (text: string): string => {
  if (OrderId.safeParse(text).success) return text;
  throw new AdminError(`${text} is not an order id: expected ord_ and a ULID`);
};

const context = () => newContext('service:admin');
