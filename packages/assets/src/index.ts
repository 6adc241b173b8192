export { type Asset, type AssetTable, assetTable, AssetTableError, assetsOf, type Network } from './asset-table.ts';
export { AssetsFile } from './assets-file.ts';
export type { BitcoinChain } from './chains.ts';
export { assignedDeposit, depositInstruction } from './deposit-instruction.ts';
export { checksummed, isChecksummed } from './evm-address.ts';
export { payableAssets, requiredConfirmations, requirePayable } from './payable.ts';
export { AssetsConfig, readAssets } from './read-assets.ts';
