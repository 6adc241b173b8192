import { DEPOSIT_SETTINGS_STREAM, DepositSettingsEvent } from '@cpg/contracts';
import type { ConfirmationTier } from './asset-table.ts';

/** The deposit settings, folded from their events. */
export interface DepositSettings {
  readonly merchants: ReadonlyMap<string, MerchantSettings>;
  /** Every account that was ever set, by fingerprint, oldest first. */
  readonly accounts: ReadonlyMap<string, RecordedAccount>;
}

interface MerchantSettings {
  /** Fingerprints by network. */
  readonly accounts: ReadonlyMap<string, string>;
  /** By CAIP-19 id, smallest amount first. */
  readonly confirmations: ReadonlyMap<string, readonly ConfirmationTier[]>;
  /** The part of a total that may be missing, in hundredths of a percent. */
  readonly toleranceBps: number;
  /** The addresses from which it sends refunds, by network. */
  readonly refundAddresses: ReadonlyMap<string, readonly string[]>;
}

export interface RecordedAccount {
  readonly fingerprint: string;
  /** Null for an account of the platform. */
  readonly merchantId: string | null;
  /** SHA-256 of `xpub`. */
  readonly keyHash: string;
  readonly xpub: string;
  /** Every network on which it ever received deposits. */
  readonly networks: readonly string[];
}

/** A recorded event. The secret of its metadata is the key of the account. */
interface RecordedSetting {
  readonly event: DepositSettingsEvent;
  readonly metadata: { readonly secret?: string | undefined };
}

export const noDepositSettings: DepositSettings = { merchants: new Map(), accounts: new Map() };

const NO_SETTINGS: MerchantSettings = {
  accounts: new Map(),
  confirmations: new Map(),
  toleranceBps: 0,
  refundAddresses: new Map(),
};

/** The settings after further events. */
export const depositSettingsAfter = (before: DepositSettings, events: readonly RecordedSetting[]): DepositSettings => {
  // Copied once, because a store can have many merchants.
  const merchants = new Map(before.merchants);
  const accounts = new Map(before.accounts);
  const change = (merchantId: string, changed: Partial<MerchantSettings>) =>
    void merchants.set(merchantId, { ...(merchants.get(merchantId) ?? NO_SETTINGS), ...changed });
  for (const { event, metadata } of events) {
    switch (event.type) {
      case 'DepositAccountSet': {
        const { merchantId, network, account: fingerprint, keyHash } = event.data;
        const known = accounts.get(fingerprint) ?? {
          fingerprint,
          merchantId,
          keyHash,
          xpub: metadata.secret ?? '',
          networks: [],
        };
        accounts.set(fingerprint, { ...known, networks: [...new Set([...known.networks, network])] });
        if (merchantId !== null)
          change(merchantId, {
            accounts: new Map(settingsOf({ merchants }, merchantId).accounts).set(network, fingerprint),
          });
        break;
      }
      case 'DepositAccountRemoved': {
        const { merchantId, network } = event.data;
        change(merchantId, { accounts: without(settingsOf({ merchants }, merchantId).accounts, network) });
        break;
      }
      case 'DepositConfirmationsSet': {
        const { merchantId, asset, ...tier } = event.data;
        const { confirmations } = settingsOf({ merchants }, merchantId);
        change(merchantId, {
          confirmations: new Map(confirmations).set(asset, withTier(confirmations.get(asset) ?? [], tier)),
        });
        break;
      }
      case 'DepositConfirmationsRemoved': {
        const { merchantId, asset } = event.data;
        change(merchantId, { confirmations: without(settingsOf({ merchants }, merchantId).confirmations, asset) });
        break;
      }
      case 'UnderpaymentToleranceSet':
        change(event.data.merchantId, { toleranceBps: event.data.toleranceBps });
        break;
      case 'RefundAddressAdded':
      case 'RefundAddressRemoved': {
        const { merchantId, network, address } = event.data;
        const { refundAddresses } = settingsOf({ merchants }, merchantId);
        const others = refundAddressesOf({ merchants }, merchantId, network).filter((each) => each !== address);
        const addresses = event.type === 'RefundAddressAdded' ? [...others, address] : others;
        change(merchantId, { refundAddresses: new Map(refundAddresses).set(network, addresses) });
        break;
      }
    }
  }
  return { merchants, accounts };
};

/** How the stream of deposit settings is folded. */
export const DEPOSIT_SETTINGS_FOLD = {
  stream: DEPOSIT_SETTINGS_STREAM,
  schema: DepositSettingsEvent,
  initial: noDepositSettings,
  evolve: depositSettingsAfter,
};

export const settingsOf = ({ merchants }: Pick<DepositSettings, 'merchants'>, merchantId: string): MerchantSettings =>
  merchants.get(merchantId) ?? NO_SETTINGS;

/** The addresses from which a merchant sends refunds on a network. */
export const refundAddressesOf = (
  settings: Pick<DepositSettings, 'merchants'>,
  merchantId: string,
  network: string,
): readonly string[] => settingsOf(settings, merchantId).refundAddresses.get(network) ?? [];

/** The confirmations that a merchant requires for an amount of an asset; null if the asset table decides. */
export const confirmationsOf = (
  settings: Pick<DepositSettings, 'merchants'>,
  {
    merchantId,
    asset,
    amountMinor,
  }: { readonly merchantId: string; readonly asset: string; readonly amountMinor: bigint },
): number | null =>
  settingsOf(settings, merchantId)
    .confirmations.get(asset)
    ?.findLast(({ fromMinor }) => amountMinor >= fromMinor)?.confirmations ?? null;

const withTier = (
  tiers: readonly ConfirmationTier[],
  { fromMinor, confirmations }: { readonly fromMinor: string; readonly confirmations: number },
): ConfirmationTier[] => {
  const tier = { fromMinor: BigInt(fromMinor), confirmations };
  return [...tiers.filter((other) => other.fromMinor !== tier.fromMinor), tier].sort((one, other) =>
    one.fromMinor < other.fromMinor ? -1 : 1,
  );
};

const without = <T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> =>
  new Map([...map].filter(([each]) => each !== key));
