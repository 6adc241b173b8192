import { chainFacts, paymentUri } from '@cpg/assets';
import { fromMinor, type PageDeposit, type PaymentCurrency, toUnits, type WayToPay } from '@cpg/contracts';

/** One way per network, with the rail that the merchant named first. */
export const waysToPay = (
  deposits: readonly PageDeposit[],
  currency: PaymentCurrency,
  remainingMinor: bigint,
): WayToPay[] =>
  deposits
    .filter(({ network }, n) => deposits.findIndex((each) => each.network === network) === n)
    .map((deposit) => wayOf(deposit, currency, remainingMinor));

const wayOf = (deposit: PageDeposit, currency: PaymentCurrency, remainingMinor: bigint): WayToPay => {
  const { rail, network, chain_id, asset, address, decimals, currency_decimals, required_confirmations } = deposit;
  const units = toUnits(remainingMinor, { scale: currency_decimals, decimals });
  const amount = fromMinor(remainingMinor, currency);
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
