import { type Asset, type DepositSettings, type RecordedAccount, refundAddressesOf, settingsOf } from '@cpg/assets';
import { type AppError, type DepositSettingsEvent, invalidRequest } from '@cpg/contracts';
import type { ProposedEvent } from '@cpg/event-sourcing';
import { isSameKey, keyHashOf } from './account-key.ts';

/** A change of what the events of deposit settings say. */
export type SettingsCommand =
  | {
      readonly type: 'SetAccount';
      /** Null for the platform. */
      readonly merchantId: string | null;
      readonly network: string;
      readonly key: { readonly fingerprint: string; readonly xpub: string };
      /** Whether addresses of the account were reserved before any event set it. */
      readonly wasReserved: boolean;
    }
  | { readonly type: 'RemoveAccount'; readonly merchantId: string; readonly network: string }
  | {
      readonly type: 'SetConfirmations';
      readonly merchantId: string;
      readonly asset: Asset;
      readonly fromMinor: bigint;
      readonly confirmations: number;
    }
  | { readonly type: 'RemoveConfirmations'; readonly merchantId: string; readonly asset: string }
  | { readonly type: 'SetTolerance'; readonly merchantId: string; readonly toleranceBps: number }
  | {
      readonly type: 'AddRefundAddress' | 'RemoveRefundAddress';
      readonly merchantId: string;
      readonly network: string;
      readonly address: string;
    };

type Proposed = ProposedEvent<DepositSettingsEvent>;
type CommandOf<T> = Extract<SettingsCommand, { type: T }>;

/** The events of a command; none if it changes nothing. `mostConfirmations` is the limit of a chain (CAIP-2). Throws
 *  `invalid_request`. */
export const decideSettings = (
  command: SettingsCommand,
  settings: DepositSettings,
  { now, mostConfirmations }: { readonly now: Date; readonly mostConfirmations: (chainId: string) => number },
): Proposed[] => {
  const at = now.toISOString();
  switch (command.type) {
    case 'SetAccount':
      return setAccount(command, settings, at);
    case 'RemoveAccount': {
      const { merchantId, network } = command;
      if (!settingsOf(settings, merchantId).accounts.has(network)) return [];
      return [{ event: { type: 'DepositAccountRemoved', data: { merchantId, network, at } } }];
    }
    case 'SetConfirmations':
      return setConfirmations(command, settings, at, mostConfirmations(command.asset.network.chainId));
    case 'RemoveConfirmations': {
      const { merchantId, asset } = command;
      if (!settingsOf(settings, merchantId).confirmations.has(asset)) return [];
      return [{ event: { type: 'DepositConfirmationsRemoved', data: { merchantId, asset, at } } }];
    }
    case 'SetTolerance': {
      const { merchantId, toleranceBps } = command;
      if (settingsOf(settings, merchantId).toleranceBps === toleranceBps) return [];
      return [{ event: { type: 'UnderpaymentToleranceSet', data: { merchantId, toleranceBps, at } } }];
    }
    case 'AddRefundAddress':
    case 'RemoveRefundAddress': {
      const { type, ...declared } = command;
      if (isDeclared(settings, declared) === (type === 'AddRefundAddress')) return [];
      if (type === 'RemoveRefundAddress')
        return [{ event: { type: 'RefundAddressRemoved', data: { ...declared, at } } }];
      requireUndeclared(settings, declared);
      return [{ event: { type: 'RefundAddressAdded', data: { ...declared, at } } }];
    }
  }
};

const setAccount = (
  { merchantId, network, key: { fingerprint, xpub }, wasReserved }: CommandOf<'SetAccount'>,
  settings: DepositSettings,
  at: string,
): Proposed[] => {
  const recorded = settings.accounts.get(fingerprint);
  if (recorded) requireOwner(recorded, merchantId);
  else if (merchantId !== null && wasReserved) throw usedBy('the platform');
  if (recorded && !isSameKey(recorded.xpub, xpub))
    throw invalidKey(`another key has the same fingerprint ${fingerprint}: use another account of the wallet`);
  const isSet =
    merchantId === null
      ? recorded?.networks.includes(network)
      : settingsOf(settings, merchantId).accounts.get(network) === fingerprint;
  if (isSet) return [];
  // The first form of a key stays the recorded one.
  const recordedXpub = recorded?.xpub ?? xpub;
  const data = { merchantId, network, account: fingerprint, keyHash: keyHashOf(recordedXpub), at };
  return [{ event: { type: 'DepositAccountSet', data }, secret: recordedXpub }];
};

/** An account belongs for ever to whoever set it first: its orders show the addresses, and money can come late. */
const requireOwner = (recorded: RecordedAccount, merchantId: string | null): void => {
  if (recorded.merchantId === merchantId) return;
  throw usedBy(recorded.merchantId === null ? 'the platform' : 'another merchant');
};

const usedBy = (owner: string): AppError =>
  invalidKey(
    `the account receives or has received deposits for ${owner}: use another account of the wallet, because money to one address can have only one owner`,
  );

const setConfirmations = (
  { merchantId, asset, fromMinor, confirmations }: CommandOf<'SetConfirmations'>,
  settings: DepositSettings,
  at: string,
  most: number,
): Proposed[] => {
  if (confirmations < 1 || confirmations > most)
    throw invalidRequest([{ path: 'confirmations', message: `must be 1 to ${most} on ${asset.network.name}` }]);
  const tiers = settingsOf(settings, merchantId).confirmations.get(asset.id) ?? [];
  if (tiers.some((tier) => tier.fromMinor === fromMinor && tier.confirmations === confirmations)) return [];
  const data = { merchantId, asset: asset.id, fromMinor: String(fromMinor), confirmations, at };
  return [{ event: { type: 'DepositConfirmationsSet', data } }];
};

const invalidKey = (message: string): AppError => invalidRequest([{ path: 'key', message }]);

interface Declared {
  readonly merchantId: string;
  readonly network: string;
  readonly address: string;
}

const isDeclared = (settings: DepositSettings, { merchantId, network, address }: Declared): boolean =>
  refundAddressesOf(settings, merchantId, network).includes(address);

const MAX_REFUND_ADDRESSES = 20;

/** A transfer from an address proves a refund of one merchant. */
const requireUndeclared = (settings: DepositSettings, { merchantId, network, address }: Declared): void => {
  const owner = [...settings.merchants.keys()].find((other) =>
    isDeclared(settings, { merchantId: other, network, address }),
  );
  if (owner !== undefined)
    throw invalidRequest([
      { path: 'address', message: 'another merchant sends refunds from this address: use another one of the wallet' },
    ]);
  const { length } = refundAddressesOf(settings, merchantId, network);
  if (length >= MAX_REFUND_ADDRESSES)
    throw invalidRequest([
      { path: 'address', message: `the merchant has ${length} refund addresses on ${network}: remove one first` },
    ]);
};
