import { type HistoryEntry, OrderId } from '@cpg/contracts';
import { newRequestId } from '@cpg/runtime';
import type { OrdersClient } from '../clients/orders.ts';
import { isoWithin, type ReadHistory } from '../history.ts';
import { Instant } from '../list-query.ts';
import { AdminFault } from './fault.ts';

export const AUDIT_USAGE = `  audit history ORDER [--json]                   every event of an order and its payments; whole, a line each, as JSON
  audit at ORDER INSTANT                         the order with what happened up to then`;

export interface AuditSession {
  readonly orders: Pick<OrdersClient, 'at'>;
  readonly readHistory: ReadHistory;
  readonly print: (line: string) => Promise<void>;
}

/** `history` and `at`, asked of the services that own the streams. Throws AdminFault for what cannot be done. */
export const runAudit = async (args: readonly string[], session: AuditSession): Promise<void> => {
  const asJson = args.includes('--json');
  const [verb, order, instant, ...more] = args.filter((arg) => arg !== '--json');
  if (more.length > 0 || order === undefined) throw new AdminFault(AUDIT_USAGE);
  const orderId = orderIdIn(order);
  if (verb === 'history' && instant === undefined) return showHistory(orderId, asJson, session);
  if (verb === 'at' && instant !== undefined && !asJson) return showState(orderId, instantIn(instant), session);
  throw new AdminFault(AUDIT_USAGE);
};

const showHistory = async (orderId: string, asJson: boolean, { readHistory, print }: AuditSession): Promise<void> => {
  let after: string | undefined;
  for (let more = true; more;) {
    const page = await readHistory(orderId, after, context());
    for (const { message } of page.messages) await print(asJson ? JSON.stringify(message) : described(message));
    after = page.messages.at(-1)?.place;
    if (after === undefined) throw new AdminFault(`nothing is recorded of an order ${orderId}`);
    more = page.more;
  }
};

const showState = async (orderId: string, instant: Date, { orders, print }: AuditSession): Promise<void> => {
  const order = await orders.at(orderId, isoWithin(instant), context());
  if (!order) throw new AdminFault(`order ${orderId} was not there at ${instant.toISOString()}, or is deleted since`);
  await print(JSON.stringify(order, null, 2));
};

const described = ({ at, stream, sequence, type, actor, request_id, data }: HistoryEntry): string =>
  `${at}  ${stream} #${sequence}  ${type}  by ${actor} in ${request_id}\n    ${JSON.stringify(data)}`;

const orderIdIn = (text: string): string => {
  if (OrderId.safeParse(text).success) return text;
  throw new AdminFault(`${text} is no order: it must be ord_ and a ULID`);
};

const instantIn = (text: string): Date => {
  const { data, error } = Instant.safeParse(text);
  if (error) throw new AdminFault(`${text}: ${error.issues[0]!.message}`);
  return data;
};

const context = () => {
  const requestId = newRequestId();
  return { actor: 'service:admin', requestId, correlationId: requestId };
};
