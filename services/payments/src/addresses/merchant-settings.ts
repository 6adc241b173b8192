import { type Asset, type AssetTable, type ConfirmationTier, type Network, settingsOf } from '@cpg/assets';
import {
  ACCOUNT_STREAM_PREFIX,
  Amount,
  type AppError,
  type DepositSettingsCall,
  type DepositSettingsView,
  fromMinor,
  invalidRequest,
  parseAmount,
  toleranceBpsOf,
} from '@cpg/contracts';
import { isKnownStream } from '@cpg/event-sourcing';
import { ensureScale } from '@cpg/operations';
import type { CallContext, Logger } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { AccountBook, MerchantAccounts } from './account-book.ts';
import { parsedField, recipientOn } from './recipient.ts';
import type { SettingsCommand } from './decide-settings.ts';
import { type DepositNetwork, depositNetworkOf } from './deposit-network.ts';
import { refusePublishedKey } from './published-keys.ts';

/** Shows and changes the deposit settings of a merchant, with the defaults of those that it did not set. Never shows a
 *  key. */
export interface DepositSettingsOf {
  readonly show: (merchantId: string) => Promise<DepositSettingsView>;
  /** Throws `invalid_request` with the reason; no message repeats a key. */
  readonly change: (
    merchantId: string,
    call: DepositSettingsCall,
    context: CallContext,
  ) => Promise<DepositSettingsView>;
}

export interface DepositSettingsOptions {
  readonly client: EventStoreDBClient;
  readonly accounts: Pick<MerchantAccounts, 'read' | 'change'>;
  readonly table: AssetTable;
  readonly environment: 'sandbox' | 'production';
  readonly log: Logger;
}

export const depositSettings = ({
  client,
  accounts,
  table,
  environment,
  log,
}: DepositSettingsOptions): DepositSettingsOf => {
  const setAccount = async (merchantId: string, name: string, text: string): Promise<SettingsCommand> => {
    const { account: key } = ownAccount(table, name, text, environment);
    const wasReserved = await isKnownStream(client, `${ACCOUNT_STREAM_PREFIX}${key.fingerprint}`);
    return { type: 'SetAccount', merchantId, network: name, key, wasReserved };
  };
  const commandOf = async (merchantId: string, call: DepositSettingsCall): Promise<SettingsCommand> => {
    switch (call.change) {
      case 'set_account':
        return setAccount(merchantId, call.network, call.key);
      case 'remove_account':
        return { type: 'RemoveAccount', merchantId, network: networkNamed(table, call.network).name };
      case 'set_confirmations': {
        const asset = assetNamed(table, call.asset);
        const fromMinor = call.from === undefined ? 0n : minorOf(call.from, asset);
        // Before the amount is stored: with other decimals it would be another one.
        const scale = { currency: asset.currency, decimals: asset.currencyDecimals };
        if (fromMinor > 0n) await ensureScale(client, scale, 'service:payments');
        return { type: 'SetConfirmations', merchantId, asset, fromMinor, confirmations: call.confirmations };
      }
      case 'remove_confirmations':
        return { type: 'RemoveConfirmations', merchantId, asset: assetNamed(table, call.asset).id };
      case 'set_tolerance':
        return { type: 'SetTolerance', merchantId, toleranceBps: toleranceBpsOf(call.percent) };
      case 'add_refund_address':
      case 'remove_refund_address': {
        const type = call.change === 'add_refund_address' ? 'AddRefundAddress' : 'RemoveRefundAddress';
        const network = networkNamed(table, call.network);
        return { type, merchantId, network: network.name, address: ownAddress(network, call.address) };
      }
    }
  };
  return {
    show: async (merchantId) => viewOf(await accounts.read(), merchantId, table),
    change: async (merchantId, call, context) => {
      const command = await commandOf(merchantId, call);
      const book = await accounts.change(command, context);
      const { change, ...what } = call.change === 'set_account' ? { ...call, key: undefined } : call;
      log.info({ merchantId, change, ...what, requestId: context.requestId }, 'deposit settings changed');
      return viewOf(book, merchantId, table);
    },
  };
};

const viewOf = (book: AccountBook, merchantId: string, table: AssetTable): DepositSettingsView => {
  const own = settingsOf(book.settings, merchantId);
  return {
    accounts: table.networks.flatMap(({ name }) => {
      const network = book.accountFor(merchantId, name);
      if (!network) return [];
      const { fingerprint, depth } = network.account;
      const owner = own.accounts.has(name) ? ('merchant' as const) : ('platform' as const);
      return [{ network: name, fingerprint, owner, depth, first_address: network.addressAt(0) }];
    }),
    confirmations: table.assets.flatMap((asset) => {
      const { id, currency, currencyDecimals, network } = asset;
      const ofMerchant = own.confirmations.get(id) ?? [];
      const ofTable = [{ fromMinor: 0n, confirmations: asset.requiredConfirmations }, ...asset.confirmationTiers];
      const applying = ofTable.filter((tier) => ofMerchant.every(({ fromMinor }) => tier.fromMinor < fromMinor));
      const rows = (owner: 'merchant' | 'platform', tiers: readonly ConfirmationTier[]) =>
        tiers.map(({ fromMinor: from, confirmations }) => ({
          asset: id,
          currency,
          network: network.name,
          owner,
          from: fromMinor(from, currencyDecimals),
          confirmations,
        }));
      return [...rows('platform', applying), ...rows('merchant', ofMerchant)];
    }),
    underpayment_tolerance_percent: own.toleranceBps / 100,
    refund_addresses: [...own.refundAddresses].flatMap(([network, addresses]) =>
      addresses.map((address) => ({ network, address })),
    ),
  };
};

const ownAccount = (
  table: AssetTable,
  name: string,
  text: string,
  environment: DepositSettingsOptions['environment'],
): DepositNetwork => {
  const network = networkNamed(table, name);
  return parsedField('key', text, (key) => {
    const account = depositNetworkOf(table, network, key.trim());
    if (environment === 'production') refusePublishedKey(account);
    return account;
  });
};

const ownAddress = (network: Network, text: string): string =>
  parsedField('address', text, (address) => recipientOn(network, address));

const networkNamed = (table: AssetTable, name: string) => {
  const network = table.networks.find((each) => each.name === name);
  if (network) return network;
  const names = table.networks.map((each) => each.name).join(', ');
  throw invalid('network', `there is no network "${name}": the networks of this gateway are ${names}`);
};

const assetNamed = (table: AssetTable, id: string): Asset => {
  const asset = table.assets.find((each) => each.id === id);
  if (asset) return asset;
  throw invalid('asset', `there is no such asset: ${table.assets.map((each) => each.id).join(', ')}`);
};

const minorOf = (amount: string, { currency, currencyDecimals: decimals }: Asset): bigint => {
  const { success, error } = Amount.safeParse(amount);
  if (!success) throw invalid('from', error.issues[0]!.message);
  return parseAmount(amount, { currency, decimals, path: 'from' });
};

const invalid = (path: string, message: string): AppError => invalidRequest([{ path, message }]);
