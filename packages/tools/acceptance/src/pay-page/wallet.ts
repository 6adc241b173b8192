import { PAYER, type RpcCall } from '@cpg/local-chain';
import type { Page } from 'playwright-core';

/** A request of the page to the wallet. */
interface WalletRequest {
  readonly method: string;
  readonly params: readonly Record<string, string>[];
}

export interface Wallet {
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

export const LOCAL_CHAIN = '0x7a69';
const READS = ['eth_getBalance', 'eth_call'];
/** Error codes of EIP-1193 and of wallet_switchEthereumChain (EIP-3326). */
const USER_REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;

/** Gives the page a wallet with money on the local chain; call it before the page opens. */
export const installWallet = async (
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
