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
