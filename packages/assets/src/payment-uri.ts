/** The payment that a payer sends. */
interface Transfer {
  /** CAIP-2. */
  readonly chainId: string;
  /** CAIP-19. */
  readonly asset: string;
  readonly address: string;
  /** In units of the asset. */
  readonly units: bigint;
  /** The same amount in the currency, as a decimal number. */
  readonly amount: string;
}

/** The payment URI for wallets: BIP21 (amount in BTC) or EIP-681 (amount in units of the asset). */
export const paymentUri = ({ chainId, asset, address, units, amount }: Transfer): string => {
  if (chainId.startsWith('bip122:')) return `bitcoin:${address}?amount=${amount}`;
  const chainNumber = chainId.replace('eip155:', '');
  const contract = tokenContract(asset);
  return contract
    ? `ethereum:${contract}@${chainNumber}/transfer?address=${address}&uint256=${units}`
    : `ethereum:${address}@${chainNumber}?value=${units}`;
};

/** The contract of a token, from its CAIP-19 id; null for the coin of a chain. */
export const tokenContract = (asset: string): string | null => /\/erc20:(0x[0-9a-fA-F]{40})$/.exec(asset)?.[1] ?? null;
