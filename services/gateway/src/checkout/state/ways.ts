import { chainFacts, paymentUri, type UnsignedTransfer, unsignedTransfer } from '@cpg/assets';
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

/** The transaction of a wallet (EIP-1193). */
export type WalletTransfer = UnsignedTransfer;

/** The transfer of a wallet that pays this way; null on chains without such wallets. */
export const walletTransfer = ({
  chain_id: chainId,
  asset,
  address,
  amount_units,
}: Pick<WayToPay, 'chain_id' | 'asset' | 'address' | 'amount_units'>): WalletTransfer | null =>
  unsignedTransfer({ chainId, asset, address, units: BigInt(amount_units) });
