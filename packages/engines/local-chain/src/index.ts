export { type AnvilOptions, findAnvil, setClock, startAnvil } from './anvil.ts';
export { onPath, reportSkipped } from './binaries.ts';
export {
  BITCOIN_NODE_NAMES,
  BITCOIN_NODES,
  type BitcoinNodeName,
  canTestOn,
  connectPeers,
  copyBlocks,
  installBtcd,
  installBitcoind,
} from './bitcoin-nodes.ts';
export { type BitcoinWallet, bitcoinWallet, mineBitcoin, type Payee, type Sent } from './bitcoin-wallet.ts';
export { callData, deploymentData } from './contracts.ts';
export { findPromtool, installPromtool } from './go-program.ts';
export { type BitcoinNode, type ChainNode, rpcClient, type RpcCall } from './node-process.ts';
export {
  deployForwarder,
  deployTestTokens,
  type EvmAsset,
  evmAssetOf,
  type Forwarder,
  mintTestTokens,
  pay,
  PAYER,
  TEST_TOKENS,
} from './test-tokens.ts';
export {
  hexOf,
  mineBlocks,
  mined,
  type Receipt,
  type Remined,
  reorganize,
  sendFrom,
  type Transaction,
} from './transactions.ts';
