import { chainFacts, paymentUri, tokenContract } from '@cpg/assets';
import { fromMinor, type PageDeposit, toUnits, type WayToPay } from '@cpg/contracts';

/** One way per network, with the rail that the merchant named first. */
export const waysToPay = (
  deposits: readonly PageDeposit[],
  remainingMinor: bigint,
  /** Of the order's minor units. */
  scale: number,
): WayToPay[] =>
  deposits
    .filter(({ network }, n) => deposits.findIndex((each) => each.network === network) === n)
    .map((deposit) => wayOf(deposit, remainingMinor, scale));

const wayOf = (deposit: PageDeposit, remainingMinor: bigint, scale: number): WayToPay => {
  const { rail, network, chain_id, asset, address, decimals, required_confirmations } = deposit;
  const units = toUnits(remainingMinor, { scale, decimals });
  const amount = fromMinor(remainingMinor, scale);
  const { title, isTestnet, secondsPerBlock } = chainFacts(chain_id, network);
  return {
    rail,
    network,
    network_name: title,
    is_testnet: isTestnet,
    chain_id,
    asset,
    ...(deposit.asset_label && { asset_label: deposit.asset_label }),
    ...(deposit.not_tokens && { not_tokens: deposit.not_tokens }),
    address,
    amount,
    amount_units: String(units),
    decimals,
    payment_uri: paymentUri({ chainId: chain_id, asset, address, units, amount }),
    required_confirmations,
    ...(deposit.explorer && { explorer: deposit.explorer }),
    minutes: secondsPerBlock === null ? null : Math.ceil((required_confirmations * secondsPerBlock) / 60),
  };
};

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
  const contract = tokenContract(asset);
  if (contract === null) return { chainId, to: address, value: hex(units), data: '0x' };
  const data = `${TRANSFER}${word(address.slice(2).toLowerCase())}${word(units.toString(16))}`;
  return { chainId, to: contract, value: '0x0', data };
};

const hex = (value: bigint): string => `0x${value.toString(16)}`;

const word = (digits: string): string => digits.padStart(WORD_DIGITS, '0');
