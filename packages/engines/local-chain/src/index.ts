export { type AnvilOptions, findAnvil, startAnvil } from './anvil.ts';
export {
  BITCOIN_NODE_NAMES,
  BITCOIN_NODES,
  type BitcoinNodeName,
  canTestOn,
  connectPeers,
  copyBlocks,
} from './bitcoin-nodes.ts';
export { reportSkipped } from './binaries.ts';
export { setClock } from './clock.ts';
export type { BitcoinNode } from './bitcoin-node.ts';
export { installBitcoind } from './bitcoind.ts';
export { installBtcd } from './btcd.ts';
export { findPromtool, installPromtool } from './promtool.ts';
export { type ChainNode } from './node-process.ts';
export { callData, deploymentData } from './contracts.ts';
export { rpcClient, type RpcCall } from './json-rpc.ts';
export { deployTestTokens, mintTestTokens, PAYER, TEST_TOKENS } from './test-tokens.ts';
export { mined, type Receipt, sendFrom, type Transaction } from './transactions.ts';
export { type EvmAsset, evmAssetOf, hexOf, mineBlocks, pay, type Remined, reorganize } from './payments.ts';
export { type BitcoinWallet, bitcoinWallet, mineBitcoin, type Payee, type Sent } from './bitcoin-wallet.ts';
export { deployForwarder, type Forwarder } from './forwarder.ts';
