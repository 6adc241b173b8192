import { isDeepStrictEqual } from 'node:util';
import {
  type CryptoDepositInstruction,
  type DomainMessage,
  type MerchantCreateOrderDto,
  type Order,
  type Payment,
  webhookEventsOf,
  type WebhookEventType,
  type WebhookPayload,
} from '@cpg/contracts';
import type { z } from 'zod';
import { type KafkaLog, readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { type Receiver, startReceiver, verifyDelivery } from '../harness/receiver.ts';
import { type Stack, type StackOptions, startStack } from '../harness/stack.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { until } from '../harness/until.ts';

export type Deposit = z.infer<typeof CryptoDepositInstruction>;

/** What an order and its payments have to be in the end: fields that are not named may have any value. */
export interface Expected {
  readonly status: Order['status'];
  readonly payments: readonly Partial<Payment>[];
}

/** A merchant whose orders are paid on a chain, with all that the merchant and its teams see. */
export interface Desk {
  readonly shop: Shop;
  /** An order of 10 USDT, unless changed, and where to pay it on the chain. */
  readonly order: (changes?: Partial<MerchantCreateOrderDto>) => Promise<{ order: Order; deposit: Deposit }>;
  /** Waits until the API shows an order as expected. */
  readonly sees: (orderId: string, expected: Expected) => Promise<Order>;
  /** Waits until the API shows it so, and until Kafka and the webhook told the same. Resolves to the webhook events of
   *  the order and its payments. */
  readonly hears: (orderId: string, expected: Expected) => Promise<{ order: Order; events: WebhookEventType[] }>;
  /** Advances the clock of an order beyond its deadline. */
  readonly passDeadline: (orderId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const HOOK = '/chain';
const EVENTS: WebhookEventType[] = [
  ...(['order:created', 'order:updated', 'order:paid', 'payment:applied', 'payment:failed'] as const),
  'payment:refunded',
  'payment:refund_claimed',
];

/** Starts a stack and opens a desk in it. If the desk does not open, the stack stops. */
export const startDesk = async (network: string, options: StackOptions): Promise<{ stack: Stack; desk: Desk }> => {
  const stack = await startStack(options);
  try {
    return { stack, desk: await openDesk(stack, network) };
  } catch (error) {
    await stack.stop();
    throw error;
  }
};

/** `log` of the stack explains what did not happen in time. */
export const openDesk = async (
  stack: StackFiles & { readonly log?: readonly string[] },
  network: string,
): Promise<Desk> => {
  const [shop, receiver, kafka] = await Promise.all([
    openShop(stack),
    startReceiver(),
    readKafkaLog(stack.kafkaBrokers),
  ]);
  const { id, secret } = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: EVENTS });
  await shop.api.updateWebhook(id, { is_enabled: true });

  const explain = (cause: unknown): never => {
    throw new Error([String(cause), ...(stack.log ?? [])].join('\n'), { cause });
  };
  const seen = async (orderId: string, expected: Expected): Promise<Order> => {
    let order: Order | undefined;
    try {
      return await until(`order ${expected.status}`, async () => {
        order = await shop.api.order(orderId);
        return isAsExpected(order, expected) && order;
      });
    } catch (cause) {
      const shown = order && { status: order.status, payments: order.payments };
      throw new Error(`expected ${JSON.stringify(expected)}, but is ${JSON.stringify(shown)}`, { cause });
    }
  };
  const heard = async (order: Order) => {
    const messages = await published(kafka, order);
    return { order, events: await delivered(receiver, secret, messages) };
  };

  return {
    shop,
    sees: (...given) => seen(...given).catch(explain),
    order: async (changes) => {
      const order = await shop.api.createOrder(orderBody(changes));
      const deposit = order.deposit_instructions.find(
        (each): each is Deposit => each.rail === 'crypto_deposit' && each.network === network,
      );
      if (!deposit) throw new Error(`the order has no address on ${network}`);
      return { order, deposit };
    },
    hears: (...given) =>
      seen(...given)
        .then(heard)
        .catch(explain),
    passDeadline: async (orderId) => {
      const path = `/debug/orders/${orderId}/advance-time`;
      const { status, body } = await shop.api.send('POST', path, { body: { minutes: 61 } });
      if (status >= 300) throw new Error(`the clock was not advanced: ${status} ${JSON.stringify(body)}`);
    },
    close: async () => {
      await Promise.all([shop.api.close(), kafka.close(), receiver.close()]);
    },
  };
};

const isAsExpected = ({ status, payments }: Order, expected: Expected): boolean =>
  status === expected.status &&
  payments.length === expected.payments.length &&
  expected.payments.every((fields, index) =>
    Object.entries(fields).every(([name, value]) => isDeepStrictEqual(payments[index]![name as keyof Payment], value)),
  );

/** Waits until Kafka has the order and its payments as they are. Resolves to all their messages. */
const published = async (kafka: KafkaLog, order: Order): Promise<DomainMessage[]> => {
  const ofOrder = await kafka.waitFor(order.id, (messages) => {
    const { type, data } = messages.at(-1)!;
    const { status, payments } = data.resource as Order;
    const before = messages.at(-2)?.data.resource as Order | undefined;
    // The message of the payments that pay an order shows it paid already, and `order.paid` follows.
    if (type === 'order.payments_applied' && status === 'paid' && before?.status !== 'paid') return false;
    return status === order.status && isDeepStrictEqual(statesOf(payments), statesOf(order.payments));
  });
  const ofPayments = await Promise.all(
    order.payments.map((payment) =>
      kafka.waitFor(payment.id, (messages) => (messages.at(-1)!.data.resource as Payment).status === payment.status),
    ),
  );
  if (kafka.faults().length > 0) throw new Error(kafka.faults().join('\n'));
  return [...ofOrder, ...ofPayments.flat()];
};

const statesOf = (payments: readonly Payment[]) => payments.map(({ id, status }) => [id, status]);

/** Waits until the webhook got each message that it is subscribed to, signed and with the same data. */
const delivered = async (receiver: Receiver, secret: string, messages: readonly DomainMessage[]) => {
  const wanted = messages.filter((message) => EVENTS.includes(webhookEventsOf(message)[0]!));
  await until('all webhooks', () => {
    const attempts = new Map(
      receiver.attemptsOn(HOOK).map((attempt) => [attempt.headers['x-idempotency-key'], attempt]),
    );
    return wanted.every((message) => {
      const attempt = attempts.get(message.id);
      if (!attempt || verifyDelivery(attempt, secret) === null) return false;
      const { event, data } = JSON.parse(attempt.rawBody) as WebhookPayload;
      return event === webhookEventsOf(message)[0] && isDeepStrictEqual(data, message.data.resource);
    });
  });
  return wanted.map((message) => webhookEventsOf(message)[0]!);
};
