export {
  type Asset,
  type AssetTable,
  assetTable,
  assetsOf,
  type ConfirmationTier,
  mistakableTokens,
  type Network,
} from './asset-table.ts';
export { AssetsFile } from './assets-file.ts';
export { chainFacts, isMainnet } from './chain-facts.ts';
export { type BitcoinChain, transactionUrl } from './chains.ts';
export { assignedDeposit, depositInstruction } from './deposit-instruction.ts';
export {
  confirmationsOf,
  type DepositSettings,
  DEPOSIT_SETTINGS_FOLD,
  depositSettingsAfter,
  noDepositSettings,
  type RecordedAccount,
  refundAddressesOf,
  settingsOf,
} from './deposit-settings.ts';
export { checksummed, isEvmAddress } from './evm-address.ts';
export { payableAssets, payableStep, requiredConfirmations, requirePayable } from './payable.ts';
export { paymentUri, tokenContract, type UnsignedTransfer, unsignedTransfer } from './payment-uri.ts';
export { AssetsConfig, readAssets } from './read-assets.ts';
export { spendingSecretIn } from './spending-secret.ts';
