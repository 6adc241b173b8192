import { AppError, fromMinor, type PaymentCurrency, type PaymentRail } from '@cpg/contracts';
import { type Asset, assetsOf, type AssetTable, defaultStepMinor } from './asset-table.ts';

/** How many confirmations a payment of this amount needs. */
export const requiredConfirmations = (
  { requiredConfirmations: least, confirmationTiers }: Pick<Asset, 'requiredConfirmations' | 'confirmationTiers'>,
  amountMinor: bigint,
): number => confirmationTiers.findLast(({ fromMinor }) => amountMinor >= fromMinor)?.confirmations ?? least;

/** The assets that can pay a total in this currency, each with the confirmations that the total needs. */
export const payableAssets = (
  table: Pick<AssetTable, 'assets'>,
  currency: PaymentCurrency,
  totalMinor: bigint,
): Asset[] =>
  assetsOf(table, currency)
    .filter(({ smallestPayableMinor }) => totalMinor >= smallestPayableMinor)
    .map((asset) => ({
      ...asset,
      requiredConfirmations: requiredConfirmations(asset, totalMinor),
      confirmationTiers: [],
    }));

/** Totals in this currency are multiples of it, so that wallets take them on every network. In minor units of
 *  `decimals`. */
export const payableStep = (table: Pick<AssetTable, 'assets'>, currency: PaymentCurrency, decimals: number): bigint =>
  assetsOf(table, currency)
    .map(({ payableStepMinor }) => payableStepMinor)
    .sort((a, b) => (a < b ? -1 : 1))
    .at(-1) ?? defaultStepMinor(decimals);

/** Throws `amount_too_small` for a total that no asset of the currency can pay: nodes do not relay smaller transfers,
 *  or their fee would be more than the amount. Throws `invalid_request` for a currency without an asset. */
export const requirePayable = (
  table: Pick<AssetTable, 'assets'>,
  currency: PaymentCurrency,
  totalMinor: bigint,
  rail: PaymentRail = 'crypto_deposit',
): void => {
  const assets = assetsOf(table, currency);
  if (assets.length === 0) throw refusal('invalid_request', 'enable_rails', `${rail} does not support ${currency}`);
  const smallest = assets.map(({ smallestPayableMinor }) => smallestPayableMinor).reduce((a, b) => (a < b ? a : b));
  if (totalMinor < smallest) {
    const decimals = assets[0]!.currencyDecimals;
    const [total, least] = [totalMinor, smallest].map((minor) => fromMinor(minor, decimals));
    throw refusal(
      'amount_too_small',
      'items',
      `the total is ${total} ${currency}, and ${rail} takes at least ${least} ${currency}: raise the total`,
    );
  }
};

const refusal = (code: 'invalid_request' | 'amount_too_small', path: string, message: string): AppError =>
  new AppError(code, `${path}: ${message}`, { details: [{ path, message }] });
