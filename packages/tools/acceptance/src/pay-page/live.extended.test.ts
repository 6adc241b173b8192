import { PAYER, type RpcCall } from '@cpg/local-chain';
import type { Page } from 'playwright-core';
import { startExtraGateway } from '../harness/services.ts';
import { until } from '../harness/until.ts';
import { qrCodeOn, visit } from '../harness/browser.ts';
import { onPaymentPage, openSale, SLOW, transferOf, withBrowser } from './sale.ts';

/** A request of the page to the wallet. */
interface WalletRequest {
  readonly method: string;
  readonly params: readonly Record<string, string>[];
}

interface Wallet {
  readonly requests: readonly WalletRequest[];
  /** The transactions that the page asked for. */
  readonly transactions: () => Record<string, string>[];
}

export interface WalletOptions {
  /** The chains that it knows, in hex digits; it is on the first one. */
  readonly chains?: readonly string[];
  /** Whether the owner refuses to pay. */
  readonly refuses?: boolean;
}

const LOCAL_CHAIN = '0x7a69';
const READS = ['eth_getBalance', 'eth_call'];
/** Error codes of EIP-1193 and of wallet_switchEthereumChain (EIP-3326). */
const USER_REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

/** Gives the page a wallet with money on the local chain; call it before the page opens. */
const installWallet = async (
  page: Page,
  call: RpcCall,
  { chains = [LOCAL_CHAIN], refuses = false }: WalletOptions = {},
): Promise<Wallet> => {
  const requests: WalletRequest[] = [];
  let [chainId] = chains;

  const answer = async ({ method, params }: WalletRequest): Promise<unknown> => {
    const [first] = params;
    switch (method) {
      case 'eth_accounts':
      case 'eth_requestAccounts':
        return [PAYER];
      case 'eth_chainId':
        return chainId;
      case 'wallet_switchEthereumChain':
        if (!chains.includes(first!.chainId!)) throw new WalletError(UNKNOWN_CHAIN, 'the chain is not known');
        chainId = first!.chainId!;
        return null;
      case 'eth_sendTransaction':
        if (refuses) throw new WalletError(USER_REJECTED, 'the owner refused');
        if (chainId !== LOCAL_CHAIN) throw new WalletError(-32_000, `sent on the chain ${chainId}`);
        return call('eth_sendTransaction', first);
      default:
        if (READS.includes(method)) return call(method, ...params);
        throw new WalletError(4200, `${method} is not supported`);
    }
  };

  await page.exposeFunction('askTestWallet', async (request: WalletRequest) => {
    requests.push(request);
    try {
      return { result: await answer(request) };
    } catch (error) {
      const { message, code = -32_000 } = error as WalletError;
      return { error: { code, message } };
    }
  });
  await page.addInitScript(PROVIDER);
  return {
    requests,
    transactions: () =>
      requests.filter(({ method }) => method === 'eth_sendTransaction').map(({ params }) => params[0]!),
  };
};

class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const PROVIDER = `{
  const request = async ({ method, params = [] }) => {
    const { result, error } = await window.askTestWallet({ method, params });
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  const provider = { request, on: () => provider, removeListener: () => provider };
  const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Wallet', rdns: 'example.wallet', icon: 'data:,' };
  const detail = Object.freeze({ info, provider });
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  window.ethereum = provider;
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
}`;

const EXPRESS = { capabilities: { express_checkout: true } };
const MAINNET = '0x1';

onPaymentPage('an open payment page', () => {
  const stack = withBrowser();
  let other: Awaited<ReturnType<typeof startExtraGateway>>;
  beforeAll(async () => {
    other = await startExtraGateway(stack.evm.stack);
  }, SLOW);
  afterAll(() => other?.stop());

  test(
    'shows each step of a payment by itself, at every gateway',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const elsewhere = `${other.baseUrl}${new URL(sale.url).pathname}`;
      const visits = await Promise.all([sale.url, elsewhere].map((url) => visit(stack.browser, url)));
      const both = (name: string) =>
        Promise.all(visits.map(({ page }) => page.getByRole('heading', { level: 1, name }).waitFor()));
      const progress = (text: string) => Promise.all(visits.map(({ page }) => page.getByText(text).waitFor()));
      await sale.pay(40n);
      await progress('1 of 3 confirmations');
      await sale.confirm();
      await both('Part of your payment has arrived');
      const [way] = (await sale.checkout()).ways;
      for (const { page } of visits) {
        await page.getByText('With amount').click();
        expect(await qrCodeOn(page)).toBe(way!.payment_uri);
      }
      await sale.pay(60n);
      await both('Your payment was seen');
      await sale.confirm();
      await both('Paid');
      expect(visits.flatMap(({ faults }) => faults)).toEqual([]);
      await Promise.all(visits.map(({ close }) => close()));
    },
    SLOW,
  );

  test.each(['one order', 'seven orders'])(
    'loads in seven tabs of %s over HTTP/1.1, and each shows its payment by itself',
    async (orders) => {
      const first = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, first.url);
      const sales = [first];
      const pages = [page];
      while (pages.length < 7) {
        const sale = orders === 'one order' ? first : await openSale(stack.evm, EXPRESS);
        const tab = await page.context().newPage();
        await tab.goto(sale.url);
        sales.push(sale);
        pages.push(tab);
      }
      for (const sale of new Set(sales)) await sale.pay();
      for (const tab of pages)
        await tab
          .getByRole('heading', { level: 1, name: /^(Your payment was seen|Paid)$/ })
          .waitFor({ timeout: 60_000 });
      await close();
    },
    SLOW,
  );

  test.each(['USDC', 'ETH'] as const)(
    'asks a wallet for exactly the transfer of %s, once, however often it is clicked',
    async (payment_currency) => {
      const sale = await openSale(stack.evm, { ...EXPRESS, payment_currency });
      const [way] = (await sale.checkout()).ways;
      let wallet!: Wallet;
      const { page, faults, close } = await visit(stack.browser, sale.url, {
        prepare: async (each) =>
          (wallet = await installWallet(each, stack.evm.call, { chains: [MAINNET, LOCAL_CHAIN] })),
      });
      await page.getByRole('button', { name: /Test Wallet/ }).dblclick();
      await page.getByRole('heading', { level: 1, name: 'Your payment was seen' }).waitFor();
      const { asset, to, units } = transferOf(way!.payment_uri);
      const [sent, ...more] = wallet.transactions();
      expect(more).toEqual([]);
      if (asset === 'native') expect([sent!.to, BigInt(sent!.value!)]).toEqual([to, units]);
      else {
        const call = `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;
        expect([sent!.to, BigInt(sent!.value ?? 0), sent!.data]).toEqual([asset.contract, 0n, call]);
      }
      await sale.confirm();
      await page.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
      expect(faults).toEqual([]);
      await close();
    },
    SLOW,
  );

  test(
    'says what to do when the owner of the wallet refuses, and lets them try again',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, sale.url, {
        prepare: (each) => installWallet(each, stack.evm.call, { refuses: true }),
      });
      await page.getByRole('button', { name: /Test Wallet/ }).click();
      await page.getByText('You declined it in your wallet').first().waitFor();
      await page.locator('[data-wallet] button:enabled').waitFor();
      await close();
    },
    SLOW,
  );

  test(
    'counts down by the clock of the server when the one of the phone jumps',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, sale.url, { prepare: (each) => each.clock.install() });
      const left = async () => {
        const [text] = /[\d:]+/.exec(await page.locator('time.countdown').innerText())!;
        return text.split(':').reduce((left, part) => left * 60 + Number(part), 0) / 60;
      };
      expect(await left()).toBeGreaterThanOrEqual(58);
      await page.clock.fastForward('30:00');
      await until('the time left by the clock of the server', async () => (await left()) >= 58);
      await close();
    },
    SLOW,
  );
});
