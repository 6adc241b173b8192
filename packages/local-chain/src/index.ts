export { type AnvilOptions, findAnvil, startAnvil } from './anvil.ts';
export { type BtcdNode, type BtcdOptions, findBtcd, installBtcd, startBtcd } from './btcd.ts';
export { type ChainNode, freePort } from './node-process.ts';
export { callData, deploymentData } from './contracts.ts';
export { rpcClient, type RpcCall } from './json-rpc.ts';
export { deployTestTokens, mintTestTokens, PAYER, TEST_TOKENS } from './test-tokens.ts';
export { mined, type Receipt, sendFrom, type Transaction } from './transactions.ts';
export { type EvmAsset, evmAssetOf, hexOf, mineBlocks, pay, type Remined, reorganize } from './payments.ts';
