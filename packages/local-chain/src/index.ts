export { type AnvilOptions, findAnvil, startAnvil } from './anvil.ts';
export { type BtcdNode, type BtcdOptions, findBtcd, installBtcd, startBtcd } from './btcd.ts';
export { type ChainNode, freePort } from './node-process.ts';
