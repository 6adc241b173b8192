import { parseDecimal, type PaymentCurrency, type Scales, toMinorRoundedUp } from '@cpg/contracts';
import { isMainnet } from './chain-facts.ts';
import type { AssetRow, AssetsFile, NetworkRow } from './assets-file.ts';
import { type Chain, chainOf, explorerOf } from './chains.ts';

/** A chain that accepts deposits. */
export type Network = Chain & {
  readonly name: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** Extended public key in the file. */
  readonly xpub?: string;
  /** Address of the block explorer; absent for none. */
  readonly explorer?: string;
};

/** A coin or token on a network: what a deposit consists of. */
export interface Asset {
  readonly currency: PaymentCurrency;
  /** Decimals of the minor units of the currency, in which the amounts below are. */
  readonly currencyDecimals: number;
  readonly network: Network;
  /** CAIP-19. */
  readonly id: string;
  /** Address of the token contract with its EIP-55 checksum; absent for the native coin. */
  readonly contract?: string;
  /** The name that wallets show for a token, where it is not the currency. */
  readonly label?: string;
  /** For a token that payers are not asked for: whether money that arrives in it counts as the currency, or is an
   *  orphan. */
  readonly ifSent?: 'credit' | 'orphan';
  /** Decimals of the asset on its chain. They can differ from those of the currency; `toUnits` and `fromUnits`
   *  convert. */
  readonly decimals: number;
  /** The smallest amount that can be paid with it, in minor units of the currency. */
  readonly smallestPayableMinor: bigint;
  /** Amounts to pay are multiples of it, in minor units of the currency. */
  readonly payableStepMinor: bigint;
  /** Of an amount below all tiers. */
  readonly requiredConfirmations: number;
  /** Confirmations of larger amounts, smallest first. */
  readonly confirmationTiers: readonly ConfirmationTier[];
  /** From this amount on, the nodes also have to call the block final. Absent for never. */
  readonly finalizedFromMinor?: bigint;
  /** Whether only earlier orders show it. Their deposits are still looked for. */
  readonly isRetired?: true;
}

export interface ConfirmationTier {
  readonly fromMinor: bigint;
  readonly confirmations: number;
}

export interface AssetTable {
  readonly networks: readonly Network[];
  readonly assets: readonly Asset[];
}

/** The assets that payers are asked for when they pay in a currency: one for each network. */
export const assetsOf = ({ assets }: Pick<AssetTable, 'assets'>, currency: PaymentCurrency): Asset[] =>
  assets.filter((asset) => asset.currency === currency && asset.ifSent === undefined && !asset.isRetired);

/** The names of tokens that a payer could mistake for the one that is offered, and that do not pay an order. */
export const mistakableTokens = (
  { assets }: Pick<AssetTable, 'assets'>,
  offered: { readonly asset: string; readonly network: string },
): string[] => {
  const currency = assets.find(({ id }) => id === offered.asset)?.currency;
  return assets
    .filter((asset) => asset.network.name === offered.network && asset.currency === currency)
    .flatMap(({ ifSent, label, id }) => (ifSent === 'orphan' && id !== offered.asset ? [label!] : []));
};

/** The rows of the file do not fit each other or their chains. */
export class AssetTableError extends Error {
  override readonly name = 'AssetTableError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

// An amount of 18 digits before the point fits into the 256 bits of a token balance with up to 36 decimals.
const MAX_DECIMALS = 36;
const NATIVE_DECIMALS = { bitcoin: 8, evm: 18 };
// SLIP-44 coin types. All testnets of Bitcoin share one.
const COIN_TYPES = { main: 0, test: 1, regtest: 1, ether: 60 };

/** Builds the table from a file, with amounts in minor units of these scales. Throws AssetTableError with all
 *  faults. */
export const assetTable = (file: AssetsFile, scales: Scales): AssetTable => {
  const networks = file.networks.map(networkOf);
  const byName = new Map(networks.map((network) => [network.name, network]));
  const faults = [
    ...repeated(file.networks, ({ network }) => network).map((row) => `two networks have the name ${row.network}`),
    ...repeated(file.networks, ({ chain_id }) => chain_id).map(
      (row) => `two networks have the chain id ${row.chain_id}`,
    ),
    ...file.networks.flatMap(nativeCoinFaults),
    ...mixedFaults(networks),
    ...file.networks
      .filter(({ network }) => !file.assets.some((row) => row.network === network))
      .map(({ network }) => `the network ${network} has no asset: add a row for each, or remove the network`),
    ...repeated(file.assets.filter(isOffered), keyOf).map(
      (row) =>
        `two rows are ${nameOf(row)}: payers are asked for one token there. Add "if_sent": "credit" or "orphan" and a "label" to the row of the other`,
    ),
    ...repeated(
      file.assets.filter(({ label }) => label),
      ({ label, network }) => `${label} ${network}`,
    ).map(({ label, network }) => `two rows on ${network} have the label ${label}`),
    ...repeated(
      file.assets.filter(({ contract }) => contract),
      ({ contract, network }) => `${contract} ${network}`,
    ).map((row) => `${nameOf(row)} has the contract of another row`),
    ...file.assets.flatMap((row) => assetFaults(row, byName.get(row.network), scales)),
    ...unofferedFaults(file.assets),
  ];
  if (faults.length > 0) throw new AssetTableError(faults);
  return { networks, assets: file.assets.map((row) => assetOf(row, byName.get(row.network)!, scales)) };
};

const networkOf = ({ network: name, chain_id: chainId, native_coin, xpub, explorer: own }: NetworkRow): Network => {
  const chain = chainOf(chainId)!;
  const nativeCoin = chain.nativeCoin ?? native_coin;
  const explorer = own === undefined ? explorerOf(chainId) : own?.replace(/(?<!\/)\/+$/, '');
  return {
    ...chain,
    ...(nativeCoin && { nativeCoin }),
    name,
    chainId,
    ...(xpub && { xpub }),
    ...(explorer && { explorer }),
  } as Network;
};

const nativeCoinFaults = ({ network, chain_id, native_coin }: NetworkRow): string[] => {
  const known = chainOf(chain_id)?.nativeCoin;
  return known && native_coin && known !== native_coin
    ? [`the native coin of ${network} (${chain_id}) is ${known}, not ${native_coin}`]
    : [];
};

const nameOf = ({ currency, network }: AssetRow) => `${currency} on ${network}`;
const keyOf = ({ currency, network }: AssetRow) => `${currency} ${network}`;
const isOffered = ({ if_sent, retired }: AssetRow) => if_sent === undefined && !retired;

/** A token that is not offered needs a name of its own, and another token that is offered. */
const unofferedFaults = (rows: readonly AssetRow[]): string[] => {
  const offered = new Set(rows.filter(isOffered).map(keyOf));
  return rows
    .filter(({ if_sent }) => if_sent !== undefined)
    .flatMap((row) =>
      [
        ...(row.native ? ['the coin of a chain is always offered: remove "if_sent"'] : []),
        ...(row.label === undefined || row.label === row.currency
          ? [`with "if_sent" it needs a "label" other than ${row.currency}, such as USDC.e`]
          : []),
        ...(offered.has(keyOf(row)) ? [] : ['no other row offers this currency there: remove "if_sent"']),
      ].map((fault) => `${nameOf(row)}: ${fault}`),
    );
};

/** EVM networks share addresses: the coins of a test network are free, and can be sent to an address of a main one. */
const mixedFaults = (networks: readonly Network[]): string[] => {
  const evm = networks.filter(({ kind }) => kind === 'evm');
  const main = evm.find(({ chainId }) => isMainnet(chainId) === true);
  const test = evm.filter(({ chainId }) => isMainnet(chainId) === false);
  if (!main) return [];
  return test.map(
    ({ name, chainId }) =>
      `${name} (${chainId}) is a test network and shares its addresses with ${main.name} (${main.chainId}): use a deployment of its own for test networks`,
  );
};

const assetFaults = (row: AssetRow, network: Network | undefined, scales: Scales): string[] => {
  const scale = scales[row.currency];
  if (!network) return [`${nameOf(row)}: there is no network of that name`];
  const faults = row.native
    ? nativeFaults(row, network)
    : [...tokenFaults(row, network), ...decimalsFaults(row, scale)];
  if (row.finalized_from && network.kind === 'bitcoin')
    faults.push('"finalized_from" is for EVM chains: Bitcoin has no final blocks');
  return [...faults, ...tierFaults(row, scale)].map((fault) => `${nameOf(row)}: ${fault}`);
};

const nativeFaults = ({ currency, decimals }: AssetRow, { kind, nativeCoin, chainId }: Network): string[] => {
  if (nativeCoin === undefined)
    return [
      `the native coin of ${chainId} is not known to this version: if ${currency} pays the gas there, add "native_coin": "${currency}" to the network`,
    ];
  if (nativeCoin !== currency)
    return [`the native coin of ${chainId} is ${nativeCoin}: remove the row, or give the contract of a token`];
  return decimals === NATIVE_DECIMALS[kind] ? [] : [`the native coin has ${NATIVE_DECIMALS[kind]} decimals`];
};

const tokenFaults = ({ currency }: AssetRow, { kind }: Network): string[] => {
  if (kind === 'bitcoin') return ['a Bitcoin chain has no tokens'];
  return currency === 'BTC' || currency === 'ETH'
    ? [`a token is not ${currency}: wrapped and bridged coins are not supported`]
    : [];
};

/** An asset with fewer decimals than its currency could not pay every amount of it. */
const decimalsFaults = ({ currency, decimals }: AssetRow, least: number): string[] => {
  return decimals < least || decimals > MAX_DECIMALS
    ? [`has ${decimals} decimals, must have ${least} (as amounts of ${currency}) to ${MAX_DECIMALS}`]
    : [];
};

const assetOf = (row: AssetRow, network: Network, { [row.currency]: scale }: Scales): Asset => ({
  currency: row.currency,
  currencyDecimals: scale,
  network,
  id: `${network.chainId}/${row.contract ? `erc20:${row.contract}` : `slip44:${coinTypeOf(network)}`}`,
  ...(row.contract && { contract: row.contract }),
  ...(row.label && { label: row.label }),
  ...(row.if_sent && { ifSent: row.if_sent }),
  decimals: row.decimals,
  ...payableOf(row, scale),
  requiredConfirmations: row.confirmations,
  confirmationTiers: tiersOf(row, scale),
  ...(row.finalized_from && {
    finalizedFromMinor: toMinorRoundedUp(parseDecimal(row.finalized_from), scale),
  }),
  ...(row.retired && { isRetired: true }),
});

/** Most wallets take 8 decimals. */
const WALLET_DECIMALS = 8;

/** Of a currency with `scale` decimals. */
export const defaultStepMinor = (scale: number): bigint => 10n ** BigInt(Math.max(0, scale - WALLET_DECIMALS));

const payableOf = ({ smallest_payable, payable_step }: AssetRow, scale: number) => {
  const minor = (amount: string) => toMinorRoundedUp(parseDecimal(amount), scale);
  const payableStepMinor = payable_step === undefined ? defaultStepMinor(scale) : minor(payable_step);
  const smallest = minor(smallest_payable);
  return { payableStepMinor, smallestPayableMinor: smallest > payableStepMinor ? smallest : payableStepMinor };
};

const tiersOf = ({ confirmation_tiers: tiers = [] }: AssetRow, scale: number): ConfirmationTier[] =>
  tiers.map(({ from, confirmations }) => ({
    fromMinor: toMinorRoundedUp(parseDecimal(from), scale),
    confirmations,
  }));

/** A larger amount must not apply earlier than a smaller one. */
const tierFaults = (row: AssetRow, scale: number): string[] => {
  const tiers = [{ fromMinor: 0n, confirmations: row.confirmations }, ...tiersOf(row, scale)];
  return tiers
    .slice(1)
    .some((tier, n) => tier.fromMinor <= tiers[n]!.fromMinor || tier.confirmations <= tiers[n]!.confirmations)
    ? ['each of "confirmation_tiers" must have a larger "from" and more "confirmations" than the one before it']
    : [];
};

const coinTypeOf = (network: Network): number => COIN_TYPES[network.kind === 'bitcoin' ? network.chain : 'ether'];

/** The first repetition of each key. */
const repeated = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] => {
  const counts = new Map<string, number>();
  return rows.filter((row) => {
    const count = (counts.get(keyOf(row)) ?? 0) + 1;
    counts.set(keyOf(row), count);
    return count === 2;
  });
};
