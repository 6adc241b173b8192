import { createClient } from '@cpg/sdk';
import { openShop } from '../../harness/merchants.ts';
import { routeTo } from '../../harness/proxies.ts';
import { startStack } from '../../harness/stack.ts';
import { sharedStack, type StackFiles } from '../../harness/stack-files.ts';
import type { RunningShop } from './shop.ts';

export type ShopGateway = Awaited<ReturnType<typeof openGateway>>;
export type KillableGateway = Awaited<ReturnType<typeof openKillableGateway>>;

/** The environment of a stack. Its delays are short, so that tests wait little for retries. */
export const STACK_ENV = { CHAIN: 'on', WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5' };

/** The gateway as one merchant has it, through an address that a test can block as if the gateway were down. */
export const openGateway = async (stack: StackFiles = sharedStack()) => {
  const [merchant, route] = await Promise.all([openShop(stack), routeTo({ url: stack.baseUrl })]);
  const client = createClient({ baseUrl: stack.baseUrl, apiKey: merchant.key });
  const url = route.url.replace(/\/$/, '');
  let goUp: (() => Promise<void>) | undefined;
  return {
    stack,
    merchant,
    /** Sees the gateway also while it is blocked for the shop. */
    client,
    /** Options of a plugin. */
    options: { gatewayUrl: url, apiKey: merchant.key },
    /** The shop gets no answer from the gateway. The gateway goes on, and reaches the shop. */
    block: async () => void (goUp = await route.block()),
    unblock: async () => goUp?.(),
    /** Pays an order of the gateway by a debug endpoint. */
    pay: async (
      orderId: string,
      { amount, currency, txHash }: { amount?: string; currency?: string; txHash?: string } = {},
    ) => {
      const order = await client.getOrder(orderId);
      return client.registerPayment({
        order_id: orderId,
        payment_rail: 'crypto_deposit',
        amount: amount ?? order.remaining_amount,
        currency: (currency ?? order.currency) as typeof order.currency,
        ...(txHash !== undefined && { txHash }),
      });
    },
    /** Only the test delivers. */
    disableWebhooks: async () => {
      for (const { id } of (await client.listWebhooks()).items) await client.updateWebhook(id, { is_enabled: false });
    },
    close: async () => {
      route.close();
      await merchant.api.close();
    },
  };
};

/** Opens a gateway and starts a shop on it, for all tests of a file. If the shop does not start, the gateway is
 *  closed. */
export const openGatewayAndShop = async <Gateway extends ShopGateway, Shop extends Pick<RunningShop, 'close'>>(
  open: () => Promise<Gateway>,
  start: (gateway: Gateway) => Promise<Shop>,
) => {
  const gateway = await open();
  const shop = await start(gateway).catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  return {
    gateway,
    shop,
    close: async () => {
      await shop.close();
      await gateway.close();
    },
  };
};

const SERVICES = ['gateway', 'orders', 'payments', 'webhook-dispatcher-1'];

/** A gateway on a stack of its own, for a file that kills it: others share one. */
export const openKillableGateway = async () => {
  const stack = await startStack({ env: STACK_ENV });
  const gateway = await openGateway(stack);
  return {
    ...gateway,
    /** Kills all services at once. The launcher starts them again. */
    kill: () => {
      for (const name of SERVICES) process.kill(stack.pidOf(name)!, 'SIGKILL');
    },
    close: async () => {
      await gateway.close();
      await stack.stop();
    },
  };
};
