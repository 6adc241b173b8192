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
  /** What it is for, as wallets show it beside the transaction; BIP21 alone has a place for it. */
  readonly label?: string | undefined;
}

/** The payment URI for wallets: BIP21 (amount in BTC) or EIP-681 (amount in units of the asset). */
export const paymentUri = ({ chainId, asset, address, units, amount, label }: Transfer): string => {
  if (chainId.startsWith('bip122:')) {
    // Some wallets show `label`, others `message`.
    const text = label === undefined ? '' : encodeURIComponent(label);
    return `bitcoin:${address}?amount=${amount}${text && `&label=${text}&message=${text}`}`;
  }
  const chainNumber = chainId.replace('eip155:', '');
  const contract = tokenContract(asset);
  return contract
    ? `ethereum:${contract}@${chainNumber}/transfer?address=${address}&uint256=${units}`
    : `ethereum:${address}@${chainNumber}?value=${units}`;
};

/** The contract of a token, from its CAIP-19 id; null for the coin of a chain. */
export const tokenContract = (asset: string): string | null => /\/erc20:(0x[0-9a-fA-F]{40})$/.exec(asset)?.[1] ?? null;

/** An unsigned transaction for wallets (EIP-1193), in hex digits with `0x`. */
export interface UnsignedTransfer {
  readonly chainId: string;
  /** The address that takes the coin, or the contract of the token. */
  readonly to: string;
  readonly value: string;
  /** The call of the token's contract; `0x` for the coin of the chain. */
  readonly data: string;
}

/** Selector of `transfer(address,uint256)`. */
const TRANSFER = '0xa9059cbb';
const WORD_DIGITS = 64;

/** The transaction of a transfer; null on chains without such wallets. */
export const unsignedTransfer = ({
  chainId: chain,
  asset,
  address,
  units,
}: Omit<Transfer, 'amount' | 'label'>): UnsignedTransfer | null => {
  const chainNumber = /^eip155:(\d+)$/.exec(chain)?.[1];
  if (!chainNumber) return null;
  const chainId = hex(BigInt(chainNumber));
  const contract = tokenContract(asset);
  if (contract === null) return { chainId, to: address, value: hex(units), data: '0x' };
  const data = `${TRANSFER}${word(address.slice(2).toLowerCase())}${word(units.toString(16))}`;
  return { chainId, to: contract, value: '0x0', data };
};

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const word = (digits: string): string => digits.padStart(WORD_DIGITS, '0');
