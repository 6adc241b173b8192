import { wallClockMs } from '@cpg/platform';
import type { RpcCall } from './json-rpc.ts';

/** Sets anvil's clock to that of this machine, in whole seconds. Without it, time goes on from block 0. */
export const setClock = async (call: RpcCall, now: () => number = wallClockMs): Promise<void> => {
  const second = () => Math.floor(now() / 1_000);
  let set: number;
  // If a second ended meanwhile, the chain would stay a second behind.
  do await call('evm_setTime', (set = second()));
  while (set !== second());
};
