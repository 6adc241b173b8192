import type { MerchantCreateOrderDto, Order, WebhookEventType, WebhookPayload } from '@cpg/contracts';
import { type ChainNode, deployTestTokens, evmAssetOf, mineBlocks, pay, setClock, startAnvil } from '@cpg/local-chain';
import type { Deposit } from '../chains/desk.ts';
import { type EvmStack, onEvm, startEvmStack } from '../chains/evm-stack.ts';
import { hasValidXSignature, type Receiver, startReceiver } from '../harness/receiver.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { canSetClocks, type Clocks, createClocks } from './clocks.ts';

/** Tests of wrong clocks, with orders that are paid on a chain. */
export const onWrongClocks = canSetClocks ? onEvm : describe.skip;

export const SLOW = 240_000;
export const HOOK = '/market';

const CONFIRMATIONS = 2;
const EVENTS: WebhookEventType[] = ['order:updated', 'order:paid'];

/** A merchant of a stack whose clocks can be wrong. The chain has the time of this process. */
export interface Market extends Pick<EvmStack, 'desk' | 'stop'> {
  readonly clocks: Clocks;
  readonly node: ChainNode;
  readonly receiver: Receiver;
  readonly webhookId: string;
  readonly secret: string;
  readonly stack: () => Stack;
  /** Stops all processes, and starts them again after `meanwhile`. */
  readonly restart: (meanwhile?: () => Promise<void>) => Promise<void>;
  /** Pays an order on the chain, without the confirmations that it needs. */
  readonly pay: (deposit: Deposit) => Promise<void>;
  readonly confirm: () => Promise<void>;
  /** Pays an order and cancels another one, and waits until everybody knows. */
  readonly trade: () => Promise<void>;
  /** Waits until the API, its list, Kafka and the webhook show an order with this status. */
  readonly shows: (orderId: string, status: Order['status']) => Promise<void>;
  /** The readiness of each service. */
  readonly readiness: () => Promise<Record<Service, Readiness>>;
  /** Waits until all services are ready. */
  readonly ready: () => Promise<void>;
  /** Waits until all services are ready and trust their clocks. */
  readonly trusts: () => Promise<void>;
}

export type Service = 'gateway' | 'orders' | 'payments' | 'dispatcher';

interface Readiness {
  readonly status: string;
  readonly missing?: readonly string[];
  readonly clock?: {
    /** Why the service does not trust its clock. */
    readonly paused?: string;
    /** How far other clocks are ahead of that of the service. */
    readonly skew_seconds: Readonly<Record<string, number>>;
  };
}

export const openMarket = async (env: NodeJS.ProcessEnv = {}): Promise<Market> => {
  const clocks = createClocks();
  const [node, receiver] = await Promise.all([startAnvil(), startReceiver()]);
  await setClock(node.call);
  await deployTestTokens(node.call);
  const evm = await startEvmStack(CONFIRMATIONS, { nodeUrls: [node.url], env: { ...clocks.env, ...env } });
  let { stack } = evm;
  const { desk } = evm;
  const { api } = desk.shop;
  const webhook = await api.createWebhook({ url: receiver.urlOf(HOOK), events: EVENTS });
  await api.updateWebhook(webhook.id, { is_enabled: true });

  const readiness = () => readinessOf(stack);
  const untilEach = async (description: string, is: (answer: Readiness) => boolean): Promise<void> => {
    await until(`all services to be ${description}`, async () => {
      const answers = await readiness();
      if (Object.values(answers).every(is)) return true;
      throw new Error(JSON.stringify(answers));
    });
  };
  const heard = () =>
    receiver
      .attemptsOn(HOOK)
      .filter((attempt) => hasValidXSignature(attempt, webhook.secret))
      .map(({ rawBody }) => JSON.parse(rawBody) as WebhookPayload);

  const market: Omit<Market, 'trade'> = {
    clocks,
    node,
    receiver,
    desk,
    webhookId: webhook.id,
    secret: webhook.secret,
    stack: () => stack,
    restart: async (meanwhile = async () => {}) => {
      await stack.interrupt();
      await meanwhile();
      stack = await stack.startAgain();
    },
    pay: async ({ asset, address, amount_units }) =>
      void (await pay(node.call, evmAssetOf(asset), address, BigInt(amount_units))),
    confirm: () => mineBlocks(node.call, CONFIRMATIONS),
    shows: async (orderId, status) => {
      const order = await until(`order ${orderId} to be ${status}`, async () => {
        const shown = await api.order(orderId);
        if (shown.status === status) return shown;
        throw new Error(`it is ${shown.status}: ${JSON.stringify(shown.payments)}`);
      });
      await until(`the webhook to hear that order ${orderId} is ${status}`, () =>
        heard().some(({ data }) => data.id === orderId && data.status === status),
      );
      const { items } = await api.orders({ external_reference_id: order.external_reference_id });
      expect(items.find(({ id }) => id === orderId)).toEqual(order);
    },
    ready: () => untilEach('ready', ({ status }) => status === 'ok'),
    trusts: () => untilEach('ready by trusted clocks', ({ status, clock }) => status === 'ok' && !clock?.paused),
    readiness,
    stop: async () => {
      await evm.desk.close();
      await stack.stop();
      await Promise.all([node.stop(), receiver.close()]);
      clocks.remove();
    },
  };
  return { ...market, trade: () => trade(market) };
};

const readinessOf = async ({ baseUrl, environment }: Stack): Promise<Record<Service, Readiness>> => {
  const urls: Record<Service, string> = {
    gateway: baseUrl,
    orders: environment.ORDERS_URL!,
    payments: environment.PAYMENTS_URL!,
    dispatcher: environment.WEBHOOK_DISPATCHER_URL!,
  };
  const answers = Object.entries(urls).map(async ([name, url]) => {
    const response = await fetch(`${url}/health/ready`);
    return [name, (await response.json()) as Readiness] as const;
  });
  return Object.fromEntries(await Promise.all(answers)) as Record<Service, Readiness>;
};

const trade = async (market: Omit<Market, 'trade'>): Promise<void> => {
  const [sold, canceled] = [await newOrder(market), await newOrder(market)];
  await market.pay(sold.deposit);
  await market.confirm();
  await market.desk.shop.api.cancel(canceled.order.id);
  await market.shows(sold.order.id, 'paid');
  await market.shows(canceled.order.id, 'canceled');
};

let count = 0;
/** An order with a reference of its own. After a step ahead, its chain counts as unread until it is read again. */
export const newOrder = ({ desk }: Pick<Market, 'desk'>, changes: Partial<MerchantCreateOrderDto> = {}) => {
  const external_reference_id = `clocks-${(count += 1)}`;
  return until('an order', () => desk.order({ external_reference_id, ...changes }));
};
