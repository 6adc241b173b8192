import type { AbiValue } from './abi.ts';
import { callData, deploymentData } from './contracts.ts';
import type { RpcCall } from './json-rpc.ts';
import { hexOf } from './payments.ts';
import { PAYER } from './test-tokens.ts';
import { mined, type Receipt, sendFrom } from './transactions.ts';

/** A contract that pays others from inside a transaction. */
export interface Forwarder {
  readonly address: string;
  /** Coins reach `to` by a call inside the transaction. */
  readonly forward: (to: string, units: bigint) => Promise<Receipt>;
  /** The same, in a transaction that is reverted. */
  readonly forwardAndRevert: (to: string, units: bigint) => Promise<Receipt>;
  /** Sends tokens of the contract in two transfers of one transaction. */
  readonly sendTwice: (token: string, to: string, first: bigint, second: bigint) => Promise<Receipt>;
  readonly sendAndRevert: (token: string, to: string, units: bigint) => Promise<Receipt>;
}

// Nodes do not estimate the gas of a transaction that will be reverted.
const GAS = hexOf(500_000n);

export const deployForwarder = async (call: RpcCall): Promise<Forwarder> => {
  const deployed = await mined(call, await sendFrom(call, PAYER, { data: deploymentData('Forwarder') }));
  const address = deployed.contractAddress!;
  const send = async (signature: string, values: readonly AbiValue[], value = 0n) => {
    const data = callData('Forwarder', signature, ...values);
    return mined(call, await sendFrom(call, PAYER, { to: address, data, gas: GAS, value: hexOf(value) }));
  };
  return {
    address,
    forward: (to, units) => send('forward(address)', [{ address: to }], units),
    forwardAndRevert: (to, units) => send('forwardAndRevert(address)', [{ address: to }], units),
    sendTwice: (token, to, first, second) =>
      send('sendTwice(address,address,uint256,uint256)', [{ address: token }, { address: to }, first, second]),
    sendAndRevert: (token, to, units) =>
      send('sendAndRevert(address,address,uint256)', [{ address: token }, { address: to }, units]),
  };
};
