import type { WayToPay } from '@cpg/contracts';

/** The transaction of a wallet (EIP-1193), in hex digits with `0x`. */
export interface WalletTransfer {
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

/** The transfer that pays this way; null on chains without such wallets. */
export const walletTransfer = ({
  chain_id,
  asset,
  address,
  amount_units,
}: Pick<WayToPay, 'chain_id' | 'asset' | 'address' | 'amount_units'>): WalletTransfer | null => {
  const chainNumber = /^eip155:(\d+)$/.exec(chain_id)?.[1];
  if (!chainNumber) return null;
  const chainId = hex(BigInt(chainNumber));
  const units = BigInt(amount_units);
  const contract = /\/erc20:(0x[0-9a-fA-F]{40})$/.exec(asset)?.[1];
  if (!contract) return { chainId, to: address, value: hex(units), data: '0x' };
  const data = `${TRANSFER}${word(address.slice(2).toLowerCase())}${word(units.toString(16))}`;
  return { chainId, to: contract, value: '0x0', data };
};

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const word = (digits: string): string => digits.padStart(WORD_DIGITS, '0');
