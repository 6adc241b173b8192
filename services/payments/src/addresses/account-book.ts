import {
  type Asset,
  type AssetTable,
  confirmationsOf,
  DEPOSIT_SETTINGS_FOLD,
  type DepositSettings,
  type RecordedAccount,
  requiredConfirmations,
  settingsOf,
} from '@cpg/assets';
import { AppError, isAppError } from '@cpg/contracts';
import { foldedStream } from '@cpg/event-sourcing';
import { type CallContext, ConfigError, newContext } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type AccountKey, keyHashOf, readAccountKey } from './account-key.ts';
import { decideSettings, type SettingsCommand } from './decide-settings.ts';
import { type DepositNetwork, withAccount } from './deposit-network.ts';

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

interface AccountBookOptions {
  readonly table: AssetTable;
  /** The accounts of the platform. */
  readonly networks: readonly DepositNetwork[];
}

/** Makes books of settings. Keys are parsed once. */
const accountBooks = ({ table, networks }: AccountBookOptions): ((settings: DepositSettings) => AccountBook) => {
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

/** The accounts of the platform and of its merchants, from the events of deposit settings. */
export interface MerchantAccounts {
  /** Includes every event that was recorded before the call. */
  readonly read: () => Promise<AccountBook>;
  /** Every account that ever received deposits on a network, because late deposits still arrive.
   *  A call after a block was read has every account that the block can pay. */
  readonly accountsOf: (network: string) => Promise<DepositNetwork[]>;
  /** The confirmations after which a payment of this amount to an order of the merchant applies. */
  readonly requiredConfirmations: (merchantId: string, asset: Asset, amountMinor: bigint) => Promise<number>;
  readonly change: (command: SettingsCommand, context: CallContext) => Promise<AccountBook>;
  /** Records the accounts of the platform, once. Throws ConfigError if one of them belongs to a merchant. */
  readonly recordPlatform: () => Promise<void>;
}

interface MerchantAccountsOptions {
  readonly client: EventStoreDBClient;
  readonly table: AssetTable;
  /** The accounts of the platform. */
  readonly networks: readonly DepositNetwork[];
  /** The most confirmations that a merchant can require on a chain, by its CAIP-2 id. */
  readonly mostConfirmations: (chainId: string) => number;
  readonly now: () => Date;
}

const ACTOR = 'service:payments';

export const merchantAccounts = ({
  client,
  table,
  networks,
  mostConfirmations,
  now,
}: MerchantAccountsOptions): MerchantAccounts => {
  const events = foldedStream({ client, ...DEPOSIT_SETTINGS_FOLD });
  const bookOf = accountBooks({ table, networks });
  const record = async (command: SettingsCommand, context: CallContext): Promise<AccountBook> =>
    bookOf(
      await events.change((settings) => decideSettings(command, settings, { now: now(), mostConfirmations }), context),
    );

  let recorded: Promise<void> | undefined;
  const recordAccounts = async (): Promise<void> => {
    const faults: ConfigError[] = [];
    for (const { name, account } of networks) {
      const command = {
        type: 'SetAccount',
        merchantId: null,
        network: name,
        key: account,
        wasReserved: false,
      } as const;
      await record(command, newContext(ACTOR)).catch((cause: unknown) => {
        if (!isAppError(cause, 'invalid_request')) throw cause;
        faults.push(new ConfigError(`the account key of ${name} cannot be used: ${cause.message}`, { cause }));
      });
    }
    if (faults[0]) throw faults[0];
  };
  const recordPlatform = (): Promise<void> =>
    (recorded ??= recordAccounts().catch((error: unknown) => {
      recorded = undefined;
      throw error;
    }));

  const read = async (): Promise<AccountBook> => {
    // No address of an account is shown before the event of the account. The book refuses a key that may not be used.
    await recordPlatform().catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error;
    });
    return bookOf(await events.read());
  };
  return {
    read,
    accountsOf: async (network) => (await read()).accountsOn(network),
    requiredConfirmations: async (...payment) => (await read()).requiredConfirmations(...payment),
    change: async (command, context) => {
      await read();
      return record(command, context);
    },
    recordPlatform,
  };
};
