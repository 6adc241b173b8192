import type { WalletTransfer } from '../../state/ways.ts';

export type Problem =
  | 'refused'
  | 'busy'
  | 'unknown_network'
  | 'wrong_network'
  | 'no_account'
  | 'not_enough'
  | 'unsure'
  | 'failed'
  // The page has changed since the payer clicked.
  | 'over'
  | 'changed'
  | 'unchecked'
  | 'elsewhere';

export type Step = 'connect' | 'network' | 'check' | 'confirm';

export class WalletProblem extends Error {
  readonly problem: Problem;
  constructor(problem: Problem, cause?: unknown) {
    super(problem, { cause });
    this.problem = problem;
  }
}

/** Watches a payment on its way to the wallet. */
export interface Attempt {
  readonly onStep: (step: Step) => void;
  /** Loads the page anew. Rejects with a WalletProblem unless it still asks for the transfer. */
  readonly check: () => Promise<void>;
  /** Called right before the wallet is asked to send. Throws a WalletProblem unless the page still asks for the
   *  transfer. */
  readonly onSend: () => void;
}

/** Returns the hash; after a WalletProblem other than `unsure` nothing was sent. */
export const payWith = async (
  wallet: WalletProvider,
  transfer: WalletTransfer,
  { onStep, check, onSend }: Attempt,
): Promise<string> => {
  onStep('connect');
  await asked(() => wallet.request({ method: 'eth_requestAccounts' }));
  await switchNetwork(wallet, transfer.chainId, onStep);
  // Read after the switch: an account can belong to one network.
  const [from] = (await asked(() => wallet.request({ method: 'eth_accounts' }))) as string[];
  if (!from) throw new WalletProblem('no_account');
  if (!(await hasEnough(wallet, from, transfer))) throw new WalletProblem('not_enough');
  // The wallet may have waited for its owner for an hour.
  onStep('check');
  await check();
  if (!(await isOn(wallet, transfer.chainId))) throw new WalletProblem('wrong_network');
  onSend();
  onStep('confirm');
  const { chainId, to, value, data } = transfer;
  const transaction = { from, to, value, data, chainId };
  const hash = await asked(
    () => wallet.request({ method: 'eth_sendTransaction', params: [transaction] }),
    // A wallet that lost its connection may have sent it.
    'unsure',
  );
  if (typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/i.test(hash)) throw new WalletProblem('unsure');
  return hash;
};

const switchNetwork = async (wallet: WalletProvider, chainId: string, onStep: (step: Step) => void): Promise<void> => {
  if (await isOn(wallet, chainId)) return;
  onStep('network');
  await asked(() => wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] }), 'wrong_network');
  if (!(await isOn(wallet, chainId))) throw new WalletProblem('wrong_network');
};

const isOn = async (wallet: WalletProvider, chainId: string): Promise<boolean> => {
  const current = await asked(() => wallet.request({ method: 'eth_chainId' }));
  // Some wallets answer a number, or hex digits with leading zeros.
  return Number(current) === Number(chainId);
};

/** False if the account has less than the transfer without its fee. */
const hasEnough = async (
  wallet: WalletProvider,
  from: string,
  { to, value, data }: WalletTransfer,
): Promise<boolean> => {
  try {
    if (data === '0x') {
      const balance = await wallet.request({ method: 'eth_getBalance', params: [from, 'latest'] });
      return BigInt(balance as string) >= BigInt(value);
    }
    const balanceOf = `0x70a08231${from.slice(2).toLowerCase().padStart(64, '0')}`;
    const balance = await wallet.request({ method: 'eth_call', params: [{ to, data: balanceOf }, 'latest'] });
    return BigInt(balance as string) >= BigInt(`0x${data.slice(-64)}`);
  } catch {
    // A wallet that cannot tell decides by itself.
    return true;
  }
};

// EIP-1193, EIP-1474 and EIP-3326.
const PROBLEMS: Readonly<Record<number, Problem>> = {
  4001: 'refused',
  4100: 'no_account',
  4902: 'unknown_network',
  [-32_002]: 'busy',
};

const asked = async <T>(request: () => Promise<T>, otherwise: Problem = 'failed'): Promise<T> => {
  try {
    return await request();
  } catch (error) {
    const { code, data } = error as { code?: number; data?: { originalError?: { code?: number } } };
    throw new WalletProblem(PROBLEMS[data?.originalError?.code ?? NaN] ?? PROBLEMS[code ?? NaN] ?? otherwise, error);
  }
};

/** A wallet of the browser (EIP-1193). */
export interface WalletProvider {
  readonly request: (call: { method: string; params?: unknown[] }) => Promise<unknown>;
}

export interface Wallet {
  /** As the wallet announced it; null for a wallet that did not. */
  readonly name: string | null;
  readonly provider: WalletProvider;
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string };
  readonly provider: WalletProvider;
}

const MAX_NAME = 40;

/** Reports the wallets now and whenever there are more (EIP-6963, or `window.ethereum`). */
export const findWallets = (onChange: (wallets: readonly Wallet[]) => void): void => {
  const announced = new Map<string, Wallet>();
  const change = (): void => {
    const { ethereum } = window as { ethereum?: WalletProvider };
    if (announced.size > 0) onChange([...announced.values()]);
    else onChange(ethereum ? [{ name: null, provider: ethereum }] : []);
  };
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    announced.set(info.uuid, { name: String(info.name).slice(0, MAX_NAME), provider });
    change();
  });
  // Wallets without EIP-6963 that come after the page.
  addEventListener('ethereum#initialized', change);
  dispatchEvent(new Event('eip6963:requestProvider'));
  change();
};
