import { OrderId, type RecordedEntry } from '@cpg/contracts';
import { newContext } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { inRecordedTime, type ReadHistory } from '../api/orders/order-history.ts';
import type { OrdersClient } from '../api/orders/orders-client.ts';
import { parseInstant, pretty } from './command.ts';

export interface OrderAudit {
  readonly orders: Pick<OrdersClient, 'at'>;
  readonly readHistory: ReadHistory;
  readonly print: (line: string) => Promise<void>;
}

/** Adds the commands that read the events of one order from the services that own them. */
export const addOrderCommands = (program: AdminCommand, withServices: RunWith<OrderAudit>): void => {
  const orders = program.command('orders').description('for auditors, the events of one order');
  orders
    .command('history')
    .description('print all events of an order and its payments')
    .argument('<order>', 'the id of the order')
    .option('--json', 'one JSON object per line')
    .examples('orders history ord_01J8…', 'orders history ord_01J8… --json > history.ndjson')
    .runs((order: string, { json = false }: { json?: boolean }) => {
      const orderId = parseOrderId(order);
      return withServices((services) => printHistory(orderId, json, services));
    });
  orders
    .command('show')
    .description('print an order as it was at a time')
    .argument('<order>', 'the id of the order')
    .requiredOption('--at <time>', 'the time, such as 2026-01-31T12:00:00Z')
    .examples('orders show ord_01J8… --at 2026-01-31T12:00:00Z')
    .runs((order: string, { at }: { at: string }) => {
      const [orderId, time] = [parseOrderId(order), parseInstant('--at', at)];
      return withServices((services) => orderAt(orderId, time, services));
    });
};

/** Prints page by page, because a history can be long. */
const printHistory = async (orderId: string, asJson: boolean, { readHistory, print }: OrderAudit): Promise<void> => {
  let after: string | undefined;
  let hasMore: boolean;
  do {
    const { messages: entries, more } = await readHistory(orderId, after, context());
    for (const { message: entry } of entries) await print(asJson ? JSON.stringify(entry) : formatEntry(entry));
    after = entries.at(-1)?.place;
    // Another entry follows a page with more, so only the first page can be empty.
    if (after === undefined) throw new CommandError(`order ${orderId} has no recorded events`);
    hasMore = more;
  } while (hasMore);
};

const orderAt = async (orderId: string, time: Date, { orders }: OrderAudit): Promise<string> => {
  const order = await orders.at(orderId, inRecordedTime(time), context());
  if (!order)
    throw new CommandError(`order ${orderId} did not exist at ${time.toISOString()}, or has been deleted since`);
  return pretty(order);
};

const formatEntry = ({ at, stream, sequence, type, actor, request_id, data }: RecordedEntry): string =>
  `${at}  ${stream} #${sequence}  ${type}  by ${actor} in ${request_id}\n    ${JSON.stringify(data)}`;

const parseOrderId = (text: string): string => {
  if (OrderId.safeParse(text).success) return text;
  throw new CommandError(`${text} is not an order id: expected ord_ and a ULID`);
};

const context = () => newContext('service:admin');
