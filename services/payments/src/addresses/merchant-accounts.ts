import { type Asset, type AssetTable, DEPOSIT_SETTINGS_FOLD } from '@cpg/assets';
import { isAppError } from '@cpg/contracts';
import { foldedStream } from '@cpg/event-sourcing';
import { type CallContext, ConfigError, newContext } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { DepositNetwork } from './deposit-network.ts';
import { type AccountBook, accountBooks } from './account-book.ts';
import { decideSettings, type SettingsCommand } from './decide-settings.ts';

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

export interface MerchantAccountsOptions {
  readonly client: EventStoreDBClient;
  readonly table: AssetTable;
  /** The accounts of the platform. */
  readonly networks: readonly DepositNetwork[];
  readonly now: () => Date;
}

const ACTOR = 'service:payments';

export const merchantAccounts = ({ client, table, networks, now }: MerchantAccountsOptions): MerchantAccounts => {
  const events = foldedStream({ client, ...DEPOSIT_SETTINGS_FOLD });
  const bookOf = accountBooks({ table, networks });
  const record = async (command: SettingsCommand, context: CallContext): Promise<AccountBook> =>
    bookOf(await events.change((settings) => decideSettings(command, settings, now()), context));

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
