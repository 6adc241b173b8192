import { Checkout, type Order } from '@cpg/contracts';
import { type EvmAsset, mineBlocks, pay, type Receipt, type RpcCall } from '@cpg/local-chain';
import type { Browser } from 'playwright-core';
import { type EvmStack, onEvm, startEvmStack } from '../chains/evm-stack.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { until } from '../harness/until.ts';
import { canTestInChromium, startChromium } from '../harness/browser.ts';

type Changes = Parameters<typeof orderBody>[0];

/** An order with a payment page on the local chain, and what can happen to it. */
export interface Sale {
  readonly order: Order;
  /** Address of the page. */
  readonly url: string;
  /** URI of the QR code on the local chain, from the API. */
  readonly uri: string;
  /** Pays part of the amount on the chain. */
  readonly pay: (percent?: bigint) => Promise<Receipt>;
  /** Gives every payment the confirmations that it needs. */
  readonly confirm: () => Promise<void>;
  /** Moves the clock of the order. */
  readonly advance: (minutes: number) => Promise<unknown>;
  /** The first payment is taken back by its rail, or paid back by the merchant. */
  readonly fail: () => Promise<unknown>;
  readonly refund: (amount?: string) => Promise<unknown>;
  /** Posts to the API with the merchant's key. */
  readonly post: (path: string, body?: object) => Promise<unknown>;
  /** What the page shows, as data. */
  readonly checkout: () => Promise<Checkout>;
  /** Waits until the page shows it. */
  readonly until: (shown: (checkout: Checkout) => boolean) => Promise<Checkout>;
}

const CONFIRMATIONS = 3;

const CART: Changes = {
  external_reference_id: 'table-7',
  payment_currency: 'USDC',
  items: [
    {
      name: 'Flat white',
      quantity: 2,
      unit_price: '52.00',
      currency: 'MXN',
      modifiers: [{ name: 'Oat milk', quantity: 1, unit_price: '9.00', currency: 'MXN' }],
    },
    { name: 'Almond croissant', quantity: 1, unit_price: '68.50', currency: 'MXN' },
  ],
  metadata: { table: 7, waiter: 'internal note' },
};

/** Two coffees and a croissant, in pesos, to be paid in USDC; `changes` replaces fields. */
export const openSale = async ({ call, desk }: EvmStack, changes: Changes = {}): Promise<Sale> => {
  const { order, deposit } = await desk.order(orderBody({ ...CART, ...changes }));
  const page = order.deposit_instructions.find((instruction) => instruction.rail === 'gateway_pay')!;
  const uri = deposit.payment_uri!;

  const post = async (path: string, body?: object) => {
    const answer = await desk.shop.api.send('POST', path, body === undefined ? {} : { body });
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as unknown;
  };
  const firstPayment = async () => (await desk.shop.api.order(order.id)).payments[0]!.id;
  const checkout = async () => {
    // A browser works between two calls for longer than the gateway keeps an idle connection.
    const answer = await fetch(page.payment_url, { headers: { accept: 'application/json', connection: 'close' } });
    return Checkout.parse(await answer.json());
  };
  return {
    order,
    url: page.payment_url,
    uri,
    pay: (percent) => payByUri(call, uri, percent),
    confirm: () => mineBlocks(call, CONFIRMATIONS - 1),
    advance: async (minutes) => {
      await post(`/debug/orders/${order.id}/advance-time`, { minutes });
      // Blocks have whole seconds: the next one is to be later than the advance.
      await call('evm_increaseTime', 1);
    },
    fail: async () => post(`/debug/payments/${await firstPayment()}/fail`),
    refund: async (amount) =>
      post(`/v1/payments/${await firstPayment()}/refund`, amount ? { amount } : { what: 'all' }),
    post,
    checkout,
    until: (shown) =>
      until(`the page of ${order.id} to change`, async () => {
        const now = await checkout();
        return shown(now) && now;
      }),
  };
};

/** The transfer on the local chain that an EIP-681 URI asks for. Throws Error for another chain. */
export const transferOf = (uri: string): { asset: EvmAsset; to: string; units: bigint } => {
  const token = /^ethereum:(0x[0-9a-fA-F]{40})@31337\/transfer\?address=(0x[0-9a-fA-F]{40})&uint256=(\d+)$/.exec(uri);
  if (token) return { asset: { contract: token[1]! }, to: token[2]!, units: BigInt(token[3]!) };
  const coin = /^ethereum:(0x[0-9a-fA-F]{40})@31337\?value=(\d+)$/.exec(uri);
  if (coin) return { asset: 'native', to: coin[1]!, units: BigInt(coin[2]!) };
  throw new Error(`no transfer on the local chain: ${uri}`);
};

/** Pays as a wallet that scanned the URI, or another part of its amount. */
const payByUri = (call: RpcCall, uri: string, percent = 100n): Promise<Receipt> => {
  const { asset, to, units } = transferOf(uri);
  return pay(call, asset, to, (units * percent) / 100n);
};

/** Tests in a browser, on payments of the local chain. */
export const onPaymentPage = canTestInChromium('tests of the payment page in a browser') ? onEvm : describe.skip;

export const SLOW = 240_000;

/** A stack with a chain, and a browser, for the tests of a `describe`. */
export const withBrowser = (): { readonly evm: EvmStack; readonly browser: Browser } => {
  const open: { evm?: EvmStack; browser?: Browser } = {};
  beforeAll(async () => {
    [open.evm, open.browser] = await Promise.all([startEvmStack(CONFIRMATIONS), startChromium()]);
  }, SLOW);
  afterAll(async () => {
    await Promise.all([open.browser?.close(), open.evm?.stop()]);
  }, SLOW);
  return {
    get evm() {
      return open.evm!;
    },
    get browser() {
      return open.browser!;
    },
  };
};
