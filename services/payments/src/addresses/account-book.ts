import {
  type Asset,
  type AssetTable,
  confirmationsOf,
  type DepositSettings,
  type RecordedAccount,
  requiredConfirmations,
  settingsOf,
} from '@cpg/assets';
import { AppError } from '@cpg/contracts';
import { type AccountKey, readAccountKey } from './account-key.ts';
import { type DepositNetwork, withAccount } from './deposit-network.ts';
import { keyHashOf } from './key-hash.ts';

/** Which account receives which deposits, by the events up to a read. */
export interface AccountBook {
  readonly settings: DepositSettings;
  /** The account that receives the deposits of a merchant: its own, or that of the platform. Null for a network that is
   *  not configured. */
  readonly accountFor: (merchantId: string, network: string) => DepositNetwork | null;
  /** An account by its fingerprint; null if it never received deposits on the network. */
  readonly accountBy: (network: string, fingerprint: string) => DepositNetwork | null;
  /** The account of the platform; null for a network that is not configured. */
  readonly platformAccount: (network: string) => DepositNetwork | null;
  /** Every account that ever received deposits on a network, with those of the platform. */
  readonly accountsOn: (network: string) => DepositNetwork[];
  /** An account on each network where it ever received deposits. */
  readonly networksOf: (fingerprint: string) => DepositNetwork[];
  /** The confirmations after which a payment of this amount to an order of the merchant applies. */
  readonly requiredConfirmations: (merchantId: string, asset: Asset, amountMinor: bigint) => number;
}

export interface AccountBookOptions {
  readonly table: AssetTable;
  /** The accounts of the platform. */
  readonly networks: readonly DepositNetwork[];
}

/** Makes books of settings. Keys are parsed once. */
export const accountBooks = ({ table, networks }: AccountBookOptions): ((settings: DepositSettings) => AccountBook) => {
  const platform = new Map(networks.map((network) => [network.name, network]));
  const parsed = new Map<string, DepositNetwork>();

  const withRecorded = (recorded: RecordedAccount, name: string): DepositNetwork | null => {
    const ownKey = platform.get(name);
    if (ownKey?.account.fingerprint === recorded.fingerprint) return ownKey;
    const id = `${name}/${recorded.fingerprint}`;
    const network = table.networks.find((each) => each.name === name);
    if (!parsed.has(id) && network) parsed.set(id, withAccount(table, network, keyOf(recorded)));
    return parsed.get(id) ?? null;
  };

  return (settings) => {
    const accountBy = (network: string, fingerprint: string): DepositNetwork | null => {
      const recorded = settings.accounts.get(fingerprint);
      return recorded?.networks.includes(network) ? withRecorded(recorded, network) : null;
    };
    const platformAccount = (network: string): DepositNetwork | null => {
      const account = platform.get(network);
      if (account) requirePlatformKey(settings, account);
      return account ?? null;
    };
    return {
      settings,
      accountBy,
      platformAccount,
      accountFor: (merchantId, network) => {
        const own = settingsOf(settings, merchantId).accounts.get(network);
        return own === undefined ? platformAccount(network) : accountBy(network, own);
      },
      accountsOn: (network) =>
        [...settings.accounts.values()]
          .filter(({ networks: used }) => used.includes(network))
          .flatMap((recorded) => withRecorded(recorded, network) ?? []),
      networksOf: (fingerprint) => {
        const recorded = settings.accounts.get(fingerprint);
        return (recorded?.networks ?? []).flatMap((network) => withRecorded(recorded!, network) ?? []);
      },
      requiredConfirmations: (merchantId, asset, amountMinor) =>
        confirmationsOf(settings, { merchantId, asset: asset.id, amountMinor }) ??
        requiredConfirmations(asset, amountMinor),
    };
  };
};

/** Throws if the event was changed: its key would derive addresses of somebody else. */
const keyOf = ({ fingerprint, keyHash, xpub }: RecordedAccount): AccountKey => {
  const key = keyHashOf(xpub) === keyHash ? readAccountKey(xpub) : null;
  if (key?.fingerprint === fingerprint) return key;
  throw new Error(`the recorded key of account ${fingerprint} is not the one that was set: restore the event store`);
};

/** Deposits of other merchants must not reach the wallet of one of them. */
const requirePlatformKey = (settings: DepositSettings, { name, account }: DepositNetwork): void => {
  const owner = settings.accounts.get(account.fingerprint)?.merchantId ?? null;
  if (owner !== null)
    throw new AppError('dependency_unavailable', `deposits on ${name} are temporarily unavailable: retry the request`, {
      cause: new Error(`the account key of ${name} belongs to the merchant ${owner}`),
    });
};
