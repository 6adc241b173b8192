import { type Client, createClient } from '@cpg/sdk';
import type { DeliveryHeaders } from '@cpg/sdk/webhooks';
import { type Coins, createCoins } from './coins.ts';
import { lookUp, type LookedUp } from './look-up.ts';
import { createOrders, type Orders } from './orders.ts';
import type { Outcome } from './outcome.ts';
import { reasonOf } from './reason.ts';
import type { Store } from './store.ts';
import { type OrderHandler, receive, type Received } from './webhook/receive.ts';
import { registerWebhook, type Registered } from './webhook/registration.ts';

export interface ShopOptions {
  /** The address of the gateway, and a key of the merchant. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** A name that no other shop of the merchant has: `shop` in the metadata of each order. */
  readonly shop: string;
  /** The address at which the gateway reaches the webhook route of the shop. */
  readonly webhookUrl: string;
  readonly store: Store;
  readonly onOrder: OrderHandler;
  readonly log: Log;
  /** Milliseconds for one attempt of a request, of which there are two: 5,000 by default. A shopper waits for them. */
  readonly timeoutMs?: number;
}

export interface Log {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

export interface Shop {
  readonly orders: Orders;
  readonly coins: Coins;
  /** Handles a delivery to the webhook route. Answer it with `status`. */
  readonly receive: (rawBody: string | Uint8Array, headers: DeliveryHeaders) => Promise<Received>;
  readonly register: () => Promise<Outcome<Registered>>;
  readonly lookUp: () => Promise<Outcome<LookedUp>>;
  /** Registers the webhook and looks up what was missed, now and each hour, in the background. While the gateway is
   *  unreachable or an order fails, each minute. */
  readonly start: () => void;
  /** Ends after a look-up that runs. */
  readonly stop: () => Promise<void>;
}

const TIMEOUT_MS = 5_000;
const HOUR_MS = 3_600_000;
const RETRY_MS = 60_000;

/** The connection of one shop with the gateway. */
export const createShop = (options: ShopOptions): Shop => {
  const { baseUrl, apiKey, shop, webhookUrl: url, store, onOrder, log, timeoutMs = TIMEOUT_MS } = options;
  const client: Client = createClient({ baseUrl, apiKey, timeoutMs, maxRetries: 1, maxRetryAfterMs: 2_000 });
  const handler = { client, store, shop, onOrder, now: () => new Date() };
  const register = () =>
    registerWebhook({
      client,
      store,
      shop,
      url,
      onMove: (from) =>
        log.warn(
          `the webhook of the shop ${shop} moves from ${from} to ${url}: if another process still has the earlier address, give both the same one`,
        ),
    });
  const lookUpNow = () => lookUp(handler);

  /** Resolves with whether all went well. */
  const catchUp = async (): Promise<boolean> => {
    const registered = await register();
    if (!registered.ok) log.warn(`could not register the webhook of the shop ${shop}: ${registered.fault.message}`);
    const found = await lookUpNow();
    if (!found.ok) log.warn(`could not look up missed payments of the shop ${shop}: ${found.fault.message}`);
    for (const failure of found.ok ? found.value.failures : []) log.warn(failure);
    return registered.ok && found.ok && found.value.failures.length === 0;
  };
  const background = repeat(catchUp, (error) => log.warn(`could not catch up with the gateway: ${reasonOf(error)}`));

  return {
    orders: createOrders(client, shop),
    coins: createCoins(client, () => performance.now()),
    receive: async (rawBody, headers) => {
      const received = await receive(handler, rawBody, headers);
      (received.status === 204 ? log.info : log.warn)(`webhook ${received.result}: ${received.message}`);
      return received;
    },
    register,
    lookUp: lookUpNow,
    ...background,
  };
};

/** Runs `work` again and again until `stop`: after an hour, or after a minute if it was not all well. */
const repeat = (work: () => Promise<boolean>, onError: (error: unknown) => void): Pick<Shop, 'start' | 'stop'> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  const run = async () => {
    let isWell = false;
    try {
      isWell = await work();
    } catch (error) {
      onError(error);
    }
    if (isStopped) return;
    timer = setTimeout(begin, isWell ? HOUR_MS : RETRY_MS);
    // In Node.js alone: a command of the shop that ends is not kept alive.
    (timer as { unref?: () => void }).unref?.();
  };
  const begin = () => void (running = run());
  return {
    start: () => {
      if (!running) begin();
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};
